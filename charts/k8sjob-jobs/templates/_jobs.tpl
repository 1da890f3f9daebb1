{{/*
Put the map .over on the map .into, key by key, in place. What is false, 0 or empty counts as well,
which `merge` and `default` pass over; what is null takes away what was there.
*/}}
{{- define "k8sjob-jobs.lay-over" -}}
{{- $into := .into -}}
{{- range $key, $value := .over -}}
{{- if and (kindIs "map" $value) (kindIs "map" (get $into $key)) -}}
{{- include "k8sjob-jobs.lay-over" (dict "into" (get $into $key) "over" $value) -}}
{{- else -}}
{{- $_ := set $into $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Put the jobs that are enabled into .found, a dict with the key root: found.jobs is a list of dicts
key, name, cron (the values with the defaults under them), own (without them), image and ledger. Fails where values do not
fit together.
*/}}
{{- define "k8sjob-jobs.gather" -}}
{{- $found := . -}}
{{- $root := .root -}}
{{- $jobs := list -}}
{{- $names := dict -}}
{{- range $key, $own := $root.Values.jobs -}}
{{- $cron := deepCopy $root.Values.defaults -}}
{{- include "k8sjob-jobs.lay-over" (dict "into" $cron "over" (deepCopy ($own | default dict))) -}}
{{- if and (kindIs "map" $own) $cron.enabled -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" $key) -}}
{{- include "k8sjob-jobs.refuse" (list $key "the key is the CronJob's name, and no DNS label" "write 63 lower-case letters, digits and '-' at most, a letter or digit at both ends") -}}
{{- end -}}
{{- $name := include "k8sjob-jobs.cronjob-name" (dict "root" $root "key" $key) -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "its CronJob would be called %q, which is no name in Kubernetes" $name) "write namePrefix in lower-case letters, digits and '-'") -}}
{{- end -}}
{{- if hasKey $names $name -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "its CronJob would be called %s, as that of jobs.%s is" $name (get $names $name)) "rename one of them") -}}
{{- end -}}
{{- $_ := set $names $name $key -}}
{{- $image := deepCopy $root.Values.image -}}
{{- include "k8sjob-jobs.lay-over" (dict "into" $image "over" $cron.image) -}}
{{- $ledger := deepCopy $root.Values.ledger -}}
{{- include "k8sjob-jobs.lay-over" (dict "into" $ledger "over" $cron.ledger) -}}
{{- $_ := set $ledger "existingSecret" (tpl $ledger.existingSecret $root) -}}
{{- $_ := set $ledger "caSecret" (tpl $ledger.caSecret $root) -}}
{{- $job := dict "key" $key "name" $name "cron" $cron "own" $own "image" $image "ledger" $ledger "root" $root -}}
{{- include "k8sjob-jobs.check" $job -}}
{{- $jobs = append $jobs $job -}}
{{- end -}}
{{- end -}}
{{- if $jobs -}}
{{- include "k8sjob-jobs.check-image" (dict "root" $root "image" $root.Values.sidecarImage "where" "sidecarImage") -}}
{{- end -}}
{{- $_ := set $found "jobs" $jobs -}}
{{- end -}}

{{/* The whole seconds of a duration: 30s, 5m, 2h, 7d, 500ms; a part of a second counts as one. */}}
{{- define "k8sjob-jobs.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | trimAll " " -}}
{{- $number = regexReplaceAll "^0+([0-9])" $number "${1}" | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" -}}
{{- div (add $number 999) 1000 -}}
{{- else -}}
{{- mul $number (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400) $unit) -}}
{{- end -}}
{{- end -}}
