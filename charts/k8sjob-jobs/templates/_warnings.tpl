{{/* What people have to know of values that are allowed and dangerous. */}}
{{- define "k8sjob-jobs.warnings" -}}
{{- $all := dict }}
{{- range .jobs }}
{{- $cron := .cron }}
{{- $said := list }}
{{- if eq $cron.concurrencyPolicy "Allow" }}
{{- $said = append $said "concurrencyPolicy: Allow. Jobs of several periods run beside each other: slow ones pile up." }}
{{- end }}
{{- if eq $cron.concurrencyPolicy "Replace" }}
{{- $said = append $said "concurrencyPolicy: Replace. A slow period is cut off by the next one and stays missing; the two Pods overlap for seconds." }}
{{- end }}
{{- if eq (int $cron.backoffLimit) 0 }}
{{- $said = append $said "backoffLimit: 0. One deleted Pod or lost node ends the Job. It makes nothing run at most once: the claim does that." }}
{{- end }}
{{- if and $cron.tracked (not $cron.grace) }}
{{- $said = append $said "grace is not set. A period counts as missing half the gap to the next one after its time, 60 s at least and 1 h at most." }}
{{- end }}
{{- if not $cron.tracked }}
{{- $said = append $said "tracked: false. Nobody sees it when a period is missing." }}
{{- end }}
{{- if and $cron.tracked (not $cron.owner) }}
{{- $said = append $said "owner is not set. Alerts do not say whom they are for." }}
{{- end }}
{{- if $cron.suspend }}
{{- $said = append $said "suspend: true. Nothing starts by itself; at resume Kubernetes starts the latest slot of the time between." }}
{{- end }}
{{- if or (eq $cron.catchUp "every") (eq $cron.catchUp "latest") }}
{{- $said = append $said "catchUp: every or latest. Needs reconciler.catchUp.enabled in the chart k8sjob; without it a missing period is only listed." }}
{{- end }}
{{- if $cron.recordOnSuccess }}
{{- $said = append $said "recordOnSuccess: true. At least once, not exactly once: a run that ends between its work and the record is done again." }}
{{- end }}
{{- if and (eq $cron.mode "sidecar") (not $cron.shell) }}
{{- $said = append $said "shell: false. Where the Pod is deleted in mid-run the exit code cannot be known, and the service account may read all Pods of the namespace." }}
{{- end }}
{{- if lt (int $cron.activeDeadlineSeconds) (int (include "k8sjob-jobs.grace" $cron)) }}
{{- $said = append $said "activeDeadlineSeconds is less than what a Pod is given to stop." }}
{{- end }}
{{- if not (and ($cron.podSecurityContext).runAsNonRoot ($cron.securityContext).readOnlyRootFilesystem) }}
{{- $said = append $said "securityContext: the container may run as root or write over its image; namespaces with Pod security `restricted` refuse the former." }}
{{- end }}
{{- $name := .name }}
{{- range $said }}
{{- $_ := set $all . (append (get $all . | default list) $name) }}
{{- end }}
{{- end }}
{{- range $said, $names := $all }}
* {{ $said }}
    {{ join ", " $names }}
{{- end }}
{{- end -}}
