{{/* The chart's name, for labels. */}}
{{- define "k8sjob-jobs.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of what the jobs of a release share. */}}
{{- define "k8sjob-jobs.fullname" -}}
{{- $name := include "k8sjob-jobs.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- include "k8sjob-jobs.cut" (dict "text" .Release.Name "most" 63) -}}
{{- else -}}
{{- include "k8sjob-jobs.cut" (dict "text" (printf "%s-%s" .Release.Name $name) "most" 63) -}}
{{- end -}}
{{- end -}}

{{/*
A name of at most .most characters: .text, or its beginning and eight digits of its SHA-256, so that two
long texts that begin alike still get two names.
*/}}
{{- define "k8sjob-jobs.cut" -}}
{{- if le (len .text) (int .most) -}}
{{- .text -}}
{{- else -}}
{{- printf "%s-%s" (regexReplaceAll "[-.]+$" (trunc (int (sub .most 9)) .text) "") (sha256sum .text | trunc 8) -}}
{{- end -}}
{{- end -}}

{{/* The name of the CronJob of .key. Kubernetes takes 52 characters: its Jobs append eleven. */}}
{{- define "k8sjob-jobs.cronjob-name" -}}
{{- $prefix := tpl .root.Values.namePrefix .root -}}
{{- include "k8sjob-jobs.cut" (dict "text" (printf "%s%s" $prefix .key) "most" 52) -}}
{{- end -}}

{{- define "k8sjob-jobs.service-account" -}}
{{- $name := tpl .Values.serviceAccount.name . -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "k8sjob-jobs.fullname" .) $name -}}
{{- else -}}
{{- default "default" $name -}}
{{- end -}}
{{- end -}}

{{/* The account that a job runs under. */}}
{{- define "k8sjob-jobs.account" -}}
{{- default (include "k8sjob-jobs.service-account" .root) .cron.serviceAccountName -}}
{{- end -}}

{{- define "k8sjob-jobs.selector-labels" -}}
app.kubernetes.io/name: {{ include "k8sjob-jobs.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Labels of an object, each once, where the chart's own win; .component tells what it is; .also: more of the user's. */}}
{{- define "k8sjob-jobs.labels" -}}
{{- $all := mustMergeOverwrite (deepCopy .root.Values.commonLabels) (.also | default dict) -}}
{{- $all = mustMergeOverwrite $all (include "k8sjob-jobs.selector-labels" .root | fromYaml) -}}
{{- $_ := set $all "app.kubernetes.io/version" .root.Chart.AppVersion -}}
{{- $_ := set $all "app.kubernetes.io/component" .component -}}
{{- $_ := set $all "app.kubernetes.io/part-of" "k8sjob" -}}
{{- $_ := set $all "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $_ := set $all "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- toYaml $all -}}
{{- end -}}

{{/* What comes before the repository of .image; nothing where it is left to the node. */}}
{{- define "k8sjob-jobs.registry" -}}
{{- default .image.registry (.root.Values.global).imageRegistry | toString | trimSuffix "/" -}}
{{- end -}}

{{/* An image's full name. .image: its values; .tag: what to take where they have none. */}}
{{- define "k8sjob-jobs.image" -}}
{{- $registry := include "k8sjob-jobs.registry" . -}}
{{- $name := ternary (printf "%s/%s" $registry .image.repository) .image.repository (not (empty $registry)) -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .tag .image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "k8sjob-jobs.own-image" -}}
{{- include "k8sjob-jobs.image" (dict "root" . "image" .Values.sidecarImage "tag" .Chart.AppVersion) -}}
{{- end -}}

{{- define "k8sjob-jobs.pull-secrets" -}}
{{- $names := list -}}
{{- range concat ((.Values.global).imagePullSecrets | default list) .Values.imagePullSecrets -}}
{{- $names = append $names (ternary (get (ternary . dict (kindIs "map" .)) "name") . (kindIs "map" .)) -}}
{{- end -}}
{{- with uniq $names -}}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end -}}
{{- end -}}
