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
key, name, cron (the values with the defaults under them), image and ledger. Fails where values do not
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
{{- $job := dict "key" $key "name" $name "cron" $cron "image" $image "ledger" $ledger "root" $root -}}
{{- include "k8sjob-jobs.check" $job -}}
{{- $jobs = append $jobs $job -}}
{{- end -}}
{{- end -}}
{{- $_ := set $found "jobs" $jobs -}}
{{- end -}}

{{/* Stop, with the job, what is wrong, and what to do. */}}
{{- define "k8sjob-jobs.refuse" -}}
{{- fail (printf "\njobs.%s: %s. Nothing was rendered.\n  To do: %s.\n" (index . 0) (index . 1) (index . 2)) -}}
{{- end -}}

{{/* Fail where the values of a job do not fit together. */}}
{{- define "k8sjob-jobs.check" -}}
{{- $cron := .cron -}}
{{- if not $cron.timeZone -}}
{{- include "k8sjob-jobs.refuse" (list .key "timeZone is not set, so the schedule would be read in the zone of the cluster's controller, whichever that is" "write timeZone: Etc/UTC, or the zone that is meant, there or in defaults") -}}
{{- end -}}
{{- if eq $cron.timeZone "Local" -}}
{{- include "k8sjob-jobs.refuse" (list .key "timeZone: Local is not a zone of the IANA database, and Kubernetes refuses it" "write Etc/UTC, or the zone that is meant, e.g. Europe/Rome") -}}
{{- end -}}
{{- include "k8sjob-jobs.check-schedule" . -}}
{{- if not .image.repository -}}
{{- include "k8sjob-jobs.refuse" (list .key "no image is named" "set image.repository, of the chart or of the job") -}}
{{- end -}}
{{- if not (or .image.tag .image.digest) -}}
{{- include "k8sjob-jobs.refuse" (list .key (printf "the image %s has neither tag nor digest, so what runs would change by itself" .image.repository) "set image.tag or image.digest, of the chart or of the job") -}}
{{- end -}}
{{- include (printf "k8sjob-jobs.check-%s" $cron.mode) . -}}
{{- include "k8sjob-jobs.check-names" . -}}
{{- $grace := int (include "k8sjob-jobs.seconds" $cron.stopGrace) -}}
{{- if and (not (kindIs "invalid" $cron.terminationGracePeriodSeconds)) (le (int $cron.terminationGracePeriodSeconds) $grace) -}}
{{- include "k8sjob-jobs.refuse" (list .key (printf "terminationGracePeriodSeconds: %d is no more than stopGrace: %s, so the Pod would be killed before k8sjob has written how the attempt ended" (int $cron.terminationGracePeriodSeconds) $cron.stopGrace) "raise it, lower stopGrace, or leave it away: it is then 20 seconds more") -}}
{{- end -}}
{{- $key := .key -}}
{{- range $name := list "grace" "catchUpMaxAge" "maxLateness" "maxDuration" "retention" -}}
{{- with get $cron $name -}}
{{- $seconds := int64 (include "k8sjob-jobs.seconds" .) -}}
{{- if or (lt $seconds 1) (gt $seconds 3153600000) -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "%s: %s is not between 1s and 36500d" $name .) (printf "write a duration such as 30s, 5m, 2h or 7d, or %s: \"\" for the default" $name)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Fail where the controller would not read the schedule: it is robfig/cron's, and no crontab's. Days that there
are not, and ranges that go backwards, are for `k8sjob lint`.
*/}}
{{- define "k8sjob-jobs.check-schedule" -}}
{{- $key := .key -}}
{{- $schedule := .cron.schedule -}}
{{- if hasPrefix "@every" $schedule -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "schedule: %s counts from one start to the next and has no instants of its own, so no period of it can be missing or run again" $schedule) "write five fields, e.g. \"*/30 * * * *\"") -}}
{{- else if hasPrefix "@" $schedule -}}
{{- if not (has $schedule (list "@hourly" "@daily" "@midnight" "@weekly" "@monthly" "@yearly" "@annually")) -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "schedule: %s is none that Kubernetes knows" $schedule) "write five fields, or @hourly, @daily, @weekly, @monthly, @yearly") -}}
{{- end -}}
{{- else -}}
{{- $fields := list
      (list "minute" "0 to 59" "[0-5]?[0-9]")
      (list "hour" "0 to 23" "[01]?[0-9]|2[0-3]")
      (list "day of the month" "1 to 31" "0?[1-9]|[12][0-9]|3[01]")
      (list "month" "1 to 12, or jan to dec" "0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec")
      (list "day of the week" "0 (Sunday) to 6, or sun to sat" "0?[0-6]|sun|mon|tue|wed|thu|fri|sat") -}}
{{- range $at, $text := regexSplit "[ \\t]+" $schedule -1 -}}
{{- $field := index $fields $at -}}
{{- $part := printf "([*?]|(%[1]s)(-(%[1]s))?)(/0*[1-9][0-9]*)?" (index $field 2) -}}
{{- if not (regexMatch (printf "(?i)^%[1]s(,%[1]s)*$" $part) $text) -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "schedule: %q has %q for the %s" $schedule $text (index $field 0)) (printf "write %s, lists (1,15), ranges (1-5), steps (*/2) or *" (index $field 1))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fail where a user's name is one that the chart gives, or is none. */}}
{{- define "k8sjob-jobs.check-names" -}}
{{- $key := .key -}}
{{- $cron := .cron -}}
{{- range $where := list "labels" "annotations" "podLabels" "podAnnotations" -}}
{{- range $name, $_ := get $cron $where -}}
{{- if hasPrefix "k8sjob.io/" $name -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "%s has %s, and names of k8sjob.io are made from the job's own values" $where $name) "write grace, catchUp, lintIgnore and the like") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $volumes := list "ledger" "token" -}}
{{- $paths := list -}}
{{- if eq .cron.mode "run" -}}
{{- $paths = list "/var/run/secrets/k8sjob" "/var/run/secrets/kubernetes.io/serviceaccount" -}}
{{- else -}}
{{- $volumes = append $volumes "k8sjob" -}}
{{- $paths = list "/k8sjob" -}}
{{- end -}}
{{- if .cron.tmp.enabled -}}
{{- $volumes = append $volumes "tmp" -}}
{{- $paths = append $paths "/tmp" -}}
{{- end -}}
{{- range .cron.volumeMounts -}}
{{- if has (trimSuffix "/" .mountPath) $paths -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "volumeMounts has %s, where the chart mounts a folder already" .mountPath) "mount it elsewhere; for a /tmp of your own also write tmp: {enabled: false}") -}}
{{- end -}}
{{- end -}}
{{- range .cron.volumes -}}
{{- if has .name $volumes -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "a volume is called %s, as one that the chart makes" .name) "give it another name") -}}
{{- end -}}
{{- end -}}
{{- range concat .cron.initContainers .cron.sidecars -}}
{{- if has .name (list "main" "resolve" "sidecar") -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "a container is called %s, as one that the chart makes" .name) "give it another name") -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- if kindIs "map" .cron.env -}}
{{- $names = keys .cron.env | sortAlpha -}}
{{- else -}}
{{- range .cron.env -}}{{- $names = append $names .name -}}{{- end -}}
{{- end -}}
{{- /* Each would win over what the chart mounts, or over what the Job's own instant is. */ -}}
{{- $others := ternary "DSN|LEDGER|LEDGERS_DIR|PERIOD|SCHEDULED_TIMESTAMP" "PERIOD" (eq .cron.mode "run") -}}
{{- range $names -}}
{{- if regexMatch (printf "^K8SJOB_(%s)$" $others) . -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "env has %s, by which each run would take another ledger or period than its own" .) "name the ledger's Secret in ledger.existingSecret, and run past periods by k8sjob backfill") -}}
{{- end -}}
{{- end -}}
{{- if .ledger.env -}}{{- $names = append $names .ledger.env -}}{{- end -}}
{{- range $names -}}
{{- if regexMatch "^K8SJOB_(CRONJOB|NAMESPACE|JOB|JOB_NAME|JOB_UID|POD_NAME|POD_UID|NODE|DSN_FILE|TIME_ZONE|CYCLE|MANUAL_RUNS|MAX_LATENESS|FAIL_ON|STOP_GRACE|LOCK_TIMEOUT|PAYLOAD|OUTPUT_BYTES|CONTEXT)$" . -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "env has %s, which the chart sets" .) "write the value of the job that it is made from (cycle, payload, failOn …), or take it away") -}}
{{- end -}}
{{- end -}}
{{- range $names -}}
{{- if not (regexMatch "^[A-Za-z_][A-Za-z0-9_]*$" .) -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "env has %q, which is no name of a variable" .) "write letters, digits and '_', no digit first") -}}
{{- end -}}
{{- end -}}
{{- if ne (len $names) (len (uniq $names)) -}}
{{- include "k8sjob-jobs.refuse" (list $key "a variable is in env twice, or is ledger.env too" "leave one of them") -}}
{{- end -}}
{{- end -}}

{{- define "k8sjob-jobs.check-run" -}}
{{- $cron := .cron -}}
{{- range $cron.permanentExitCodes -}}
{{- if has (int .) (list 69 75) -}}
{{- include "k8sjob-jobs.refuse" (list $.key (printf "permanentExitCodes has %d, by which k8sjob run asks for another try: a short outage of the database would end the Job" (int .)) "take it away, or let the program end with another code") -}}
{{- end -}}
{{- end -}}
{{- if and $cron.target $cron.command -}}
{{- include "k8sjob-jobs.refuse" (list .key "both target and command are set" "leave one of them: a target runs in k8sjob's own process, a command beside it") -}}
{{- end -}}
{{- if not (or $cron.target $cron.command) -}}
{{- include "k8sjob-jobs.refuse" (list .key "nothing is named to run" "set target: module:function, target: file.sql, or command: [./program]") -}}
{{- end -}}
{{- if and $cron.args (not $cron.command) -}}
{{- include "k8sjob-jobs.refuse" (list .key "args belong to a command, and there is a target" "write target as a list, e.g. target: [\"credit:credit\", --payload, \"@/etc/rate\"]") -}}
{{- end -}}
{{- if and $cron.recordOnSuccess (not $cron.command) -}}
{{- include "k8sjob-jobs.refuse" (list .key "recordOnSuccess goes with a command: a target's work commits together with its claim" "take recordOnSuccess away") -}}
{{- end -}}
{{- end -}}

{{- define "k8sjob-jobs.check-sidecar" -}}
{{- $cron := .cron -}}
{{- if $cron.target -}}
{{- include "k8sjob-jobs.refuse" (list .key "target goes with mode: run, and the mode is sidecar" "write command: [./program], which claims in its own transaction, or mode: run") -}}
{{- end -}}
{{- if $cron.recordOnSuccess -}}
{{- include "k8sjob-jobs.refuse" (list .key "recordOnSuccess goes with mode: run: a sidecar records what it sees and claims nothing" "let the program claim, or put k8sjob into its image and write mode: run") -}}
{{- end -}}
{{- if and $cron.shell (not $cron.command) -}}
{{- include "k8sjob-jobs.refuse" (list .key "with shell: true a shell starts the command, and none is named: it cannot know the image's own" "write command: [./program], or shell: false to start what the image starts") -}}
{{- end -}}
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
