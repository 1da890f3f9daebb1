{{/* How the job's periods are kept: what the reconciler reads. Values that are empty are left out. */}}
{{- define "k8sjob-jobs.annotations" -}}
{{- $cron := .cron -}}
{{- $all := deepCopy .root.Values.commonAnnotations -}}
{{- include "k8sjob-jobs.lay-over" (dict "into" $all "over" $cron.annotations) -}}
{{- $own := dict
      "job" $cron.job
      "ledger" (ternary "" .ledger.name (eq .ledger.name "default"))
      "cycle" $cron.cycle
      "grace" $cron.grace
      "catch-up" $cron.catchUp
      "catch-up-max-count" (ternary "" (toString (int64 ($cron.catchUpMaxCount | default 0))) (kindIs "invalid" $cron.catchUpMaxCount))
      "catch-up-max-age" $cron.catchUpMaxAge
      "manual-runs" $cron.manualRuns
      "max-lateness" $cron.maxLateness
      "max-duration" $cron.maxDuration
      "retention" $cron.retention
      "owner" (trim $cron.owner)
      "severity" (trim $cron.severity)
      "runbook" (trim $cron.runbook)
      "lint-ignore" (join "," $cron.lintIgnore) -}}
{{- range $name, $value := $own -}}
{{- if $value -}}
{{- $_ := set $all (printf "k8sjob.io/%s" $name) $value -}}
{{- end -}}
{{- end -}}
{{- with $all -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}
