{{/*
The user's variables for doctor, a list: what the main container of `mode: run` reads. The containers of
`mode: sidecar` read none. Those that belong to the job's own image are left out.
*/}}
{{- define "k8sjob-jobs.test-env" -}}
{{- $env := list -}}
{{- if eq .cron.mode "run" -}}
{{- range include "k8sjob-jobs.user-env" . | trim | fromYamlArray -}}
{{- if not (regexMatch "^(PATH|PYTHON.*|LD_.*)$" .name) -}}
{{- $env = append $env . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $env -}}
{{- end -}}

{{/*
Volumes and mounts for doctor, a dict: what the user's sidecars mount, and what the main container of
`mode: run` does. But not the claims of the latter: a disk that a run holds would keep the test waiting.
*/}}
{{- define "k8sjob-jobs.test-volumes" -}}
{{- $cron := .cron -}}
{{- $claims := list -}}
{{- range $cron.volumes -}}
{{- if or (hasKey . "persistentVolumeClaim") (hasKey . "ephemeral") -}}
{{- $claims = append $claims .name -}}
{{- end -}}
{{- end -}}
{{- $used := list -}}
{{- range $cron.sidecars -}}
{{- range .volumeMounts -}}{{- $used = append $used .name -}}{{- end -}}
{{- end -}}
{{- $mounts := list -}}
{{- if eq $cron.mode "run" -}}
{{- range $cron.volumeMounts -}}
{{- if not (has .name $claims) -}}
{{- $mounts = append $mounts . -}}
{{- $used = append $used .name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $volumes := list -}}
{{- range $cron.volumes -}}
{{- if has .name $used -}}{{- $volumes = append $volumes . -}}{{- end -}}
{{- end -}}
{{- /* The chart's own, which a user may mount elsewhere too. */ -}}
{{- if and $cron.tmp.enabled (has "tmp" $used) -}}
{{- $volumes = append $volumes (dict "name" "tmp" "emptyDir" dict) -}}
{{- end -}}
{{- if and (eq $cron.mode "sidecar") (has "k8sjob" $used) -}}
{{- $volumes = append $volumes (dict "name" "k8sjob" "emptyDir" dict) -}}
{{- end -}}
{{- toJson (dict "volumes" $volumes "mounts" $mounts) -}}
{{- end -}}

{{/* What decides whether a Pod of the job gets to its ledger. Jobs that are alike in that need one test. */}}
{{- define "k8sjob-jobs.test-id" -}}
{{- $cron := .cron -}}
{{- $env := list -}}
{{- range include "k8sjob-jobs.test-env" . | fromJsonArray -}}
{{- if regexMatch "^PG|(?i)_PROXY$" .name -}}{{- $env = append $env . -}}{{- end -}}
{{- end -}}
{{- $from := ternary $cron.envFrom list (eq $cron.mode "run") -}}
{{- $seen := list
      .ledger.existingSecret .ledger.key .ledger.caSecret .ledger.caKey (include "k8sjob-jobs.account" .)
      (include "k8sjob-jobs.place" $cron) $cron.podLabels $cron.podAnnotations $cron.sidecars $env $from -}}
{{- toJson $seen | sha256sum | trunc 8 -}}
{{- end -}}
