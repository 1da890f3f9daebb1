{{/* The alert rules: files/alerts.yaml, with what the values say of each. */}}

{{/*
What an alert is called in the values: its name, and of two with one name the second level has a
key of its own, such as K8sjobPeriodMissingCritical.
*/}}
{{- define "k8sjob.alertKey" -}}
{{- $level := "" -}}
{{- if eq (.labels.state | default "") "dead" -}}{{- $level = "Dead" -}}{{- end -}}
{{- if and (has .alert (list "K8sjobPeriodMissing" "K8sjobReconcilerStale")) (contains "critical" .labels.severity) -}}{{- $level = "Critical" -}}{{- end -}}
{{- print .alert $level -}}
{{- end -}}

{{/*
One rule. A severity from the values replaces the default, never that of a CronJob's annotation, which
such an alert's label looks for first. Call with (list $ rule).
*/}}
{{- define "k8sjob.rule" -}}
{{- $values := (index . 0).Values.prometheusRule -}}
{{- $rule := index . 1 -}}
{{- if $rule.alert -}}
{{- $key := include "k8sjob.alertKey" $rule -}}
{{- $own := index ($values.overrides | default dict) $key | default dict -}}
{{- with $own.for -}}{{- $_ := set $rule "for" . -}}{{- end -}}
{{- $labels := dict -}}
{{- /* Not `merge`: for it `cycle: ""` is not there. */ -}}
{{- range list ($values.ruleLabels | default dict) $rule.labels ($own.labels | default dict) -}}
{{- range $name, $text := . -}}{{- $_ := set $labels $name $text -}}{{- end -}}
{{- end -}}
{{- if $own.severity -}}
{{- $open := "{{ with $labels.severity }}" -}}
{{- if hasPrefix $open $rule.labels.severity -}}
{{- $_ := set $labels "severity" (printf "%s{{ . }}{{ else }}%s{{ end }}" $open $own.severity) -}}
{{- else -}}
{{- $_ := set $labels "severity" $own.severity -}}
{{- end -}}
{{- end -}}
{{- $_ := set $rule "labels" $labels -}}
{{- $url := $rule.annotations.runbook_url | replace "https://k8sjob.example/runbooks/" (printf "%s/" (trimSuffix "/" $values.runbookUrl)) -}}
{{- $_ := set $rule "annotations" (merge (dict "runbook_url" $url) $rule.annotations) -}}
{{- end -}}
{{- toYaml $rule -}}
{{- end -}}

{{/* "true" where the values leave an alert out. Call with (list $ rule). */}}
{{- define "k8sjob.ruleIsOff" -}}
{{- $off := (index . 0).Values.prometheusRule.disabled | default dict -}}
{{- $rule := index . 1 -}}
{{- if $rule.alert -}}
{{- if or (index $off $rule.alert) (index $off (include "k8sjob.alertKey" $rule)) -}}true{{- end -}}
{{- end -}}
{{- end -}}
