{{/*
The exit codes of k8sjob after which no other try can help (k8sjob/errors.py, EXIT_TABLE), in ascending
order, as Kubernetes wants them.
*/}}
{{- define "k8sjob-jobs.permanent-codes" -}}
64,65,66,70,76,77,78,81,82,83
{{- end -}}

{{/*
The first rule that fits decides. A code that no other try can help ends the Job even where the Pod was
evicted; any other end of an evicted Pod does not count as a failure. Each rule names its container: without
a name the code of a mesh's sidecar would count.
*/}}
{{- define "k8sjob-jobs.failure-policy" -}}
{{- $own := list -}}
{{- range splitList "," (include "k8sjob-jobs.permanent-codes" .) -}}
{{- $own = append $own (int .) -}}
{{- end -}}
{{- $main := list -}}
{{- range .cron.permanentExitCodes -}}
{{- $main = append $main (int .) -}}
{{- end -}}
{{- $rules := list -}}
{{- if eq .cron.mode "run" -}}
{{- $main = concat $main $own -}}
{{- else -}}
{{- $rules = append $rules (dict "codes" $own "container" "resolve") -}}
{{- end -}}
{{- if $main -}}
{{- $rules = prepend $rules (dict "codes" $main "container" "main") -}}
{{- end -}}
rules:
{{- range $rules }}
  - action: FailJob
    onExitCodes:
      containerName: {{ .container }}
      operator: In
      values: {{ include "k8sjob-jobs.ascending" .codes }}
{{- end }}
  - action: Ignore
    onPodConditions:
      - type: DisruptionTarget
        status: "True"
{{- end -}}

{{/* Exit codes, each once, in ascending order. */}}
{{- define "k8sjob-jobs.ascending" -}}
{{- $texts := list -}}
{{- range . -}}
{{- $texts = append $texts (printf "%03d" (int .)) -}}
{{- end -}}
{{- $codes := list -}}
{{- range uniq (sortAlpha $texts) -}}
{{- $codes = append $codes (regexReplaceAll "^0+" . "") -}}
{{- end -}}
[{{ join ", " $codes }}]
{{- end -}}
