{{/* How far apart the reconciler's passes lie: alerts call it stale by the clock. */}}

{{/* The values of a field of a schedule, as JSON. Call with (list "5,10-20/5" 60). */}}
{{- define "k8sjob.fieldValues" -}}
{{- $most := index . 1 -}}
{{- $found := list -}}
{{- range splitList "," (index . 0 | replace "?" "*" | replace "*" (printf "0-%d" (sub $most 1))) -}}
{{- if . -}}
{{- $whole := splitList "/" . -}}
{{- $ends := first $whole | splitList "-" -}}
{{- $end := (gt (len $whole) 1) | ternary (sub $most 1) (first $ends | int64) -}}
{{- if gt (len $ends) 1 -}}{{- $end = last $ends | int64 -}}{{- end -}}
{{- $step := (gt (len $whole) 1) | ternary (last $whole | int64) 1 -}}
{{- range $n := untilStep (first $ends | int) (add1 $end | int) (max 1 $step | int) -}}
{{- $found = append $found (int64 $n) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found | uniq | toJson -}}
{{- end -}}

{{/* The longest way from one of these values to the next, round the clock. Call with (list "…" 60). */}}
{{- define "k8sjob.fieldGap" -}}
{{- $most := index . 1 -}}
{{- $values := include "k8sjob.fieldValues" . | fromJsonArray -}}
{{- $gap := 0 -}}
{{- $since := 0 -}}
{{- range $n := until (mul $most 2 | int) -}}
{{- $since = add1 $since -}}
{{- if has (mod $n $most | float64) $values -}}
{{- if ge $n (int $most) -}}{{- $gap = max $gap $since -}}{{- end -}}
{{- $since = 0 -}}
{{- end -}}
{{- end -}}
{{- max $gap $since -}}
{{- end -}}

{{/* The minutes between two passes, at most; those of some days only count as a week apart. */}}
{{- define "k8sjob.passGap" -}}
{{- $schedule := trim .Values.reconciler.schedule -}}
{{- $names := dict "@hourly" 60 "@daily" 1440 "@midnight" 1440 -}}
{{- if hasKey $names $schedule -}}
{{- get $names $schedule -}}
{{- else if hasPrefix "@" $schedule -}}
10080
{{- else -}}
{{- $fields := regexSplit " +" $schedule -1 -}}
{{- $hours := include "k8sjob.fieldGap" (list (index $fields 1) 24) | int64 -}}
{{- $days := list -}}
{{- range slice $fields 2 -}}
{{- if not (has . (list "*" "?" "*/1" "1-31" "1-12" "0-6" "0-7" "1-7")) -}}{{- $days = append $days . -}}{{- end -}}
{{- end -}}
{{- if $days -}}
10080
{{- else if gt $hours 1 -}}
{{- mul $hours 60 -}}
{{- else -}}
{{- include "k8sjob.fieldGap" (list (index $fields 0) 60) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" where an alert says something of such a gap that its values do not. Call with (list $ "Key"). */}}
{{- define "k8sjob.staysOn" -}}
{{- $own := (index . 0).Values.prometheusRule -}}
{{- $off := $own.disabled | default dict -}}
{{- $changed := index ($own.overrides | default dict) (index . 1) | default dict -}}
{{- if not (or (index $off "K8sjobReconcilerStale") (index $off (index . 1)) $changed.for) -}}true{{- end -}}
{{- end -}}
