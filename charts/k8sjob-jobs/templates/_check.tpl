{{/* Stop, with the job, what is wrong, and what to do. */}}
{{- define "k8sjob-jobs.refuse" -}}
{{- include "k8sjob-jobs.stop" (list (printf "jobs.%s" (index . 0)) (index . 1) (index . 2)) -}}
{{- end -}}

{{- define "k8sjob-jobs.stop" -}}
{{- fail (printf "\n%s: %s. Nothing was rendered.\n  To do: %s.\n" (index . 0) (index . 1) (index . 2)) -}}
{{- end -}}

{{/*
Fail where .image would have two registries, one before the other; .where tells whose it is. A repository
begins with one where its first part has a dot or a port, or is localhost.
*/}}
{{- define "k8sjob-jobs.check-image" -}}
{{- $registry := include "k8sjob-jobs.registry" . -}}
{{- $own := regexFind "^(localhost|[^/]*[.:][^/]*)/" .image.repository | trimSuffix "/" -}}
{{- if and $registry $own -}}
{{- $rest := trimPrefix (printf "%s/" $own) .image.repository -}}
{{- include "k8sjob-jobs.stop" (list .where (printf "its repository %s begins with a registry, and %s would come before it" .image.repository $registry) (printf "write image.registry: %s and image.repository: %s; for a mirror that keeps images under their registries' names, registry: %s/%s and no global.imageRegistry" $own $rest $registry $own)) -}}
{{- end -}}
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
{{- include "k8sjob-jobs.check-image" (dict "root" .root "image" .image "where" (printf "jobs.%s" .key)) -}}
{{- if not (or .image.tag .image.digest) -}}
{{- include "k8sjob-jobs.refuse" (list .key (printf "the image %s has neither tag nor digest, so what runs would change by itself" .image.repository) "set image.tag or image.digest, of the chart or of the job") -}}
{{- end -}}
{{- $account := .root.Values.serviceAccount -}}
{{- if and .root.Values.rbac.create (not $account.create) (not (tpl $account.name .root)) (not $cron.serviceAccountName) -}}
{{- include "k8sjob-jobs.refuse" (list .key "serviceAccount.create is false and serviceAccount.name is empty, so its rights would go to the account default, and with it to each Pod of the namespace that names none" "set serviceAccount.name, or the job's serviceAccountName, to the account that you have made (default, where that is meant)") -}}
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
{{- /* In defaults they may be meant for the jobs of the other mode. */ -}}
{{- $key := .key -}}
{{- $own := .own -}}
{{- range $name := list "payload" "lockTimeout" "outputBytes" -}}
{{- if not (has (get $own $name) (list nil "")) -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "%s goes with mode: run: in mode sidecar the program claims by itself, and this would do nothing" $name) (printf "take %s away, or put k8sjob into the program's image and write mode: run" $name)) -}}
{{- end -}}
{{- end -}}
{{- range $own.failOn -}}
{{- if ne . "skipped" -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "failOn has %s, which in mode sidecar does nothing: the program gets that answer, and its own exit code counts" .) "take it away, let the program end with another code than 0, and name that in permanentExitCodes where no other try can help") -}}
{{- end -}}
{{- end -}}
{{- if and $cron.shell (not $cron.command) -}}
{{- include "k8sjob-jobs.refuse" (list .key "with shell: true a shell starts the command, and none is named: it cannot know the image's own" "write command: [./program], or shell: false to start what the image starts") -}}
{{- end -}}
{{- end -}}
