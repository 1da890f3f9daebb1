{{/* Names, labels, images: who is who. */}}

{{/*
The name that all others begin with. A CronJob's may have 52 characters, and ours ends in
"-reconciler"; a Service's has no dots and begins with a letter. What had to be changed for that gets
a piece of its hash, so that it meets nobody else's.
*/}}
{{- define "k8sjob.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else -}}
{{- $raw := contains "k8sjob" .Release.Name | ternary .Release.Name (printf "%s-k8sjob" .Release.Name) -}}
{{- $legal := $raw | replace "." "-" -}}
{{- if regexMatch "^[0-9]" $legal -}}{{- $legal = printf "r%s" $legal -}}{{- end -}}
{{- if or (ne $raw $legal) (gt (len $legal) 41) -}}
{{- printf "%s-%s" ($legal | trunc 32 | trimSuffix "-") ($raw | sha256sum | trunc 8) -}}
{{- else -}}
{{- $legal -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* An object that lies outside the release's namespace. Call with (list $ "reconciler"). */}}
{{- define "k8sjob.wideName" -}}
{{- $root := index . 0 -}}
{{- printf "%s:%s:%s" (include "k8sjob.fullname" $root) $root.Release.Namespace (index . 1) -}}
{{- end -}}

{{- define "k8sjob.serviceAccount" -}}
{{- $root := index . 0 -}}
{{- $own := (index $root.Values (index . 1)).serviceAccount -}}
{{- if $own.name -}}
{{- $own.name -}}
{{- else if $own.create -}}
{{- printf "%s-%s" (include "k8sjob.fullname" $root) (index . 1) -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{/* `kubectl k8sjob` looks for the first and the last. Call with (list $ "reconciler"). */}}
{{- define "k8sjob.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: k8sjob
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/*
All labels; ours win. None has the one that asks for a reconciler: this chart's CronJobs claim nothing,
and each of their runs would count as missing. Call with (list $ "reconciler" dict-of-more).
*/}}
{{- define "k8sjob.labels" -}}
{{- $root := index . 0 -}}
{{- $own := include "k8sjob.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/part-of" "k8sjob" -}}
{{- $_ := set $own "app.kubernetes.io/version" $root.Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") -}}
{{- omit (merge $own (index . 2 | default dict) ($root.Values.commonLabels | default dict)) "k8sjob.io/enabled" | toYaml -}}
{{- end -}}

{{/* Name, labels and annotations. Call with a dict: root, component, name; annotations, labels. */}}
{{- define "k8sjob.metadata" -}}
name: {{ .name | quote }}
labels:
  {{- include "k8sjob.labels" (list .root .component .labels) | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "k8sjob.image" -}}
{{- $image := .Values.image -}}
{{- $name := $image.repository -}}
{{- with (.Values.global).imageRegistry | default $image.registry -}}
{{- $name = printf "%s/%s" (trimSuffix "/" .) $name -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name ($image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
