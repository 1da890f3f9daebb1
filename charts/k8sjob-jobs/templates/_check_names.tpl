{{/* Fail where a user's name is one that the chart gives, or is none. */}}
{{- define "k8sjob-jobs.check-names" -}}
{{- $key := .key -}}
{{- $cron := .cron -}}
{{- range $where := list "labels" "annotations" "jobLabels" "jobAnnotations" "podLabels" "podAnnotations" -}}
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
{{- if and .ledger.caSecret (eq .cron.mode "run") -}}
{{- range $names -}}
{{- if has . (list "PGSSLROOTCERT" "PGSSLMODE") -}}
{{- include "k8sjob-jobs.refuse" (list $key (printf "env has %s, which the chart sets where ledger.caSecret is set" .) "take it away, and write an sslmode of your own into the DSN; or leave ledger.caSecret empty") -}}
{{- end -}}
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
