{{/* Security of k8sjob's own containers. */}}
{{- define "k8sjob-jobs.locked-down" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "k8sjob-jobs.main" -}}
{{- $cron := .cron -}}
{{- $run := eq $cron.mode "run" -}}
- name: main
  image: {{ include "k8sjob-jobs.image" (dict "root" .root "image" .image "tag" "") | quote }}
  imagePullPolicy: {{ .image.pullPolicy }}
  {{- with include "k8sjob-jobs.words" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $cron.workingDir }}
  workingDir: {{ . | quote }}
  {{- end }}
  env:
    {{- if $run }}
    {{- include "k8sjob-jobs.own-env" . | nindent 4 }}
    {{- include "k8sjob-jobs.run-env" . | nindent 4 }}
    {{- else }}
    - name: K8SJOB_CONTEXT
      value: /k8sjob
    {{- end }}
    {{- with include "k8sjob-jobs.user-env" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
  {{- with $cron.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $cron.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $cron.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationMessagePolicy: FallbackToLogsOnError
  {{- $mounts := include "k8sjob-jobs.main-mounts" . | trim }}
  {{- with $mounts }}
  volumeMounts:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "k8sjob-jobs.main-mounts" -}}
{{- if eq .cron.mode "run" }}
{{ include "k8sjob-jobs.ledger-mount" . }}
{{ include "k8sjob-jobs.token-mount" . }}
{{- else }}
- name: k8sjob
  mountPath: /k8sjob
{{- end }}
{{- if .cron.tmp.enabled }}
- name: tmp
  mountPath: /tmp
{{- end }}
{{- with .cron.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The words that the main container starts with. */}}
{{- define "k8sjob-jobs.words" -}}
{{- $cron := .cron -}}
{{- $program := concat ($cron.command | default list) ($cron.args | default list) -}}
{{- if eq $cron.mode "run" -}}
{{- $words := list "k8sjob" "run" -}}
{{- if $cron.target -}}
{{- $words = concat $words (ternary $cron.target (list $cron.target) (kindIs "slice" $cron.target)) -}}
{{- else -}}
{{- $words = concat $words (ternary (list "--record-on-success") list $cron.recordOnSuccess) (list "--") $program -}}
{{- end -}}
command: {{ toJson $words }}
{{- else if $cron.shell -}}
command:
  - sh
  - -c
  - |
    {{- include "k8sjob-jobs.wrapper" . | nindent 4 }}
  - sh
{{ toYaml $program | indent 2 }}
{{- else -}}
{{- with $cron.command -}}
command: {{ toJson . }}
{{ end -}}
{{- with $cron.args -}}
args: {{ toJson . }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
A shell that is process 1 gets no signal that it does not ask for, and passes none on. The file `exit` is what
the sidecar goes by: on Pod deletion the API never shows the end in time. Its variables have long names, since
the program may be given one that is called `code`.
*/}}
{{- define "k8sjob-jobs.wrapper" -}}
. /k8sjob/env || exit
k8sjob_stop='' k8sjob_again=1 k8sjob_child='' k8sjob_code=''
trap 'k8sjob_stop=1 k8sjob_again=1; [ -z "$k8sjob_child" ] || kill -TERM "$k8sjob_child"' TERM INT
"$@" &
k8sjob_child=$!
[ -z "$k8sjob_stop" ] || kill -TERM "$k8sjob_child"
while [ -n "$k8sjob_again" ]; do # a signal ends a wait before the program has ended
  k8sjob_again=''
  wait "$k8sjob_child"
  k8sjob_got=$?
  [ -n "$k8sjob_code" ] && [ "$k8sjob_got" -eq 127 ] || k8sjob_code=$k8sjob_got
done
echo "$k8sjob_code" >/k8sjob/exit
exit "$k8sjob_code"
{{- end -}}

{{/* The init container that finds the period. */}}
{{- define "k8sjob-jobs.resolve" -}}
- name: resolve
  {{- include "k8sjob-jobs.own-container" . | nindent 2 }}
  command: [k8sjob, resolve, --write, /k8sjob]
  volumeMounts:
    {{- include "k8sjob-jobs.ledger-mount" . | nindent 4 }}
    {{- include "k8sjob-jobs.token-mount" . | nindent 4 }}
    - name: k8sjob
      mountPath: /k8sjob
{{- end -}}

{{/* The native sidecar that keeps the books. Where a file tells how the work ended, it asks nobody. */}}
{{- define "k8sjob-jobs.sidecar" -}}
- name: sidecar
  {{- include "k8sjob-jobs.own-container" . | nindent 2 }}
  command: [k8sjob, sidecar, --context, /k8sjob, --container, main]
  restartPolicy: Always
  volumeMounts:
    {{- include "k8sjob-jobs.ledger-mount" . | nindent 4 }}
    {{- if not .cron.shell }}
    {{- include "k8sjob-jobs.token-mount" . | nindent 4 }}
    {{- end }}
    - name: k8sjob
      mountPath: /k8sjob
{{- end -}}

{{- define "k8sjob-jobs.own-container" -}}
image: {{ include "k8sjob-jobs.own-image" .root | quote }}
imagePullPolicy: {{ .root.Values.sidecarImage.pullPolicy }}
env:
  {{- include "k8sjob-jobs.own-env" . | nindent 2 }}
{{- with .cron.sidecarResources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "k8sjob-jobs.locked-down" . | nindent 2 }}
{{- end -}}
