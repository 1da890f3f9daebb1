{{/* The Pod's spec. */}}
{{- define "k8sjob-jobs.pod" -}}
{{- $root := .root -}}
{{- $cron := .cron -}}
{{- $run := eq $cron.mode "run" -}}
restartPolicy: Never
serviceAccountName: {{ include "k8sjob-jobs.account" . | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "k8sjob-jobs.grace" $cron }}
{{- with include "k8sjob-jobs.pull-secrets" $root }}
{{ . }}
{{- end }}
{{- with $cron.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if or (not $run) $cron.initContainers $cron.sidecars }}
initContainers:
  {{- with include "k8sjob-jobs.beside" $cron }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if not $run }}
  {{- include "k8sjob-jobs.resolve" . | nindent 2 }}
  {{- end }}
  {{- with $cron.initContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if not $run }}
  {{- include "k8sjob-jobs.sidecar" . | nindent 2 }}
  {{- end }}
{{- end }}
containers:
  {{- include "k8sjob-jobs.main" . | nindent 2 }}
volumes:
  {{- include "k8sjob-jobs.ledger-volume" .ledger | nindent 2 }}
  {{- include "k8sjob-jobs.token-volume" . | nindent 2 }}
  {{- if not $run }}
  - name: k8sjob
    emptyDir: {}
  {{- end }}
  {{- if $cron.tmp.enabled }}
  - name: tmp
    emptyDir:
      {{- if $cron.tmp.sizeLimit }}
      sizeLimit: {{ $cron.tmp.sizeLimit | quote }}
      {{- else }} {}
      {{- end }}
  {{- end }}
  {{- with $cron.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with include "k8sjob-jobs.place" $cron | trim }}
{{ . }}
{{- end }}
{{- end -}}

{{/*
The user's native sidecars. The first to start is the last to stop: a proxy is there before any other
container asks for the database, and as long as k8sjob speaks to it.
*/}}
{{- define "k8sjob-jobs.beside" -}}
{{- $beside := list -}}
{{- range .sidecars -}}
{{- $beside = append $beside (set (deepCopy .) "restartPolicy" "Always") -}}
{{- end -}}
{{- with $beside -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* Where a Pod runs, and how it finds names. */}}
{{- define "k8sjob-jobs.place" -}}
{{- $cron := . -}}
{{- range $name := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "hostAliases" "dnsConfig" }}
{{- with get $cron $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $name := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" }}
{{- with get $cron $name }}
{{ $name }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Above what the work may take to stop: k8sjob then writes how the attempt ended. */}}
{{- define "k8sjob-jobs.grace" -}}
{{- if kindIs "invalid" .terminationGracePeriodSeconds -}}
{{- add 20 (include "k8sjob-jobs.seconds" .stopGrace | int64) -}}
{{- else -}}
{{- int64 .terminationGracePeriodSeconds -}}
{{- end -}}
{{- end -}}
