{{/*
What the jobs' accounts may do, a list of dicts name, rules and accounts: no account has a right that none of
its jobs needs, and nothing is bound to an account that no job runs under.
*/}}
{{- define "k8sjob-jobs.rights" -}}
{{- $root := .root -}}
{{- $all := list -}}
{{- $reading := list -}}
{{- range .jobs -}}
{{- $account := include "k8sjob-jobs.account" . -}}
{{- $all = append $all $account -}}
{{- if and (eq .cron.mode "sidecar") (not .cron.shell) -}}
{{- $reading = append $reading $account -}}
{{- end -}}
{{- end -}}
{{- $name := include "k8sjob-jobs.fullname" $root -}}
{{- $pods := include "k8sjob-jobs.cut" (dict "text" (printf "%s-pods" $name) "most" 63) -}}
{{- $rights := list -}}
{{- with $all -}}
{{- $rule := dict "apiGroups" (list "batch") "resources" (list "jobs") "verbs" (list "get") -}}
{{- $rights = append $rights (dict "name" $name "rules" (list $rule) "accounts" (uniq .)) -}}
{{- end -}}
{{- with $reading -}}
{{- $rule := dict "apiGroups" (list "") "resources" (list "pods") "verbs" (list "get") -}}
{{- $rights = append $rights (dict "name" $pods "rules" (list $rule) "accounts" (uniq .)) -}}
{{- end -}}
{{- toJson $rights -}}
{{- end -}}
