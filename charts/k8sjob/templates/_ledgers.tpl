{{/* The ledgers: which there are, and which is meant where none is named. */}}

{{/* "true" where the chart keeps a ledger's schema, else nothing. Call with the ledger. */}}
{{- define "k8sjob.migrates" -}}
{{- if ne (toString .migrate) "false" -}}true{{- end -}}
{{- end -}}

{{/* The Secret with a ledger's DSN of a role, or nothing. Call with (list $ledger "reader"). */}}
{{- define "k8sjob.secretOf" -}}
{{- index (first .) (printf "%sSecret" (last .)) | default (first .).existingSecret | default "" -}}
{{- end -}}

{{/* The key of that Secret. Call with (list $ledger "reader"). */}}
{{- define "k8sjob.keyOf" -}}
{{- index (first .) (printf "%sKey" (last .)) | default (last .) -}}
{{- end -}}

{{/* The ledger that a command without --ledger looks at: "default", or else the only one. */}}
{{- define "k8sjob.defaultLedger" -}}
{{- if hasKey .Values.ledgers "default" -}}
default
{{- else if eq (len .Values.ledgers) 1 -}}
{{- keys .Values.ledgers | first -}}
{{- end -}}
{{- end -}}

{{/*
How long the hook's tries take, in seconds: each waits for the database and needs ten more, the Job
pauses between them for 10, 20, 40 … seconds and at most six minutes, and a node has twenty for a start.
*/}}
{{- define "k8sjob.migrateSeconds" -}}
{{- $own := .Values.migrate -}}
{{- $unit := dict "s" 1 "m" 60 "h" 3600 -}}
{{- $wait := mul (regexFind "^[0-9]+" $own.wait | int64) (get $unit (regexFind "[smh]$" $own.wait)) -}}
{{- $tries := add1 ($own.backoffLimit | int64) -}}
{{- $needs := add (mul $tries (add $wait 10)) 20 -}}
{{- $pause := 10 -}}
{{- range until ($own.backoffLimit | int) -}}
{{- $needs = add $needs $pause -}}
{{- $pause = min (mul $pause 2) 360 -}}
{{- end -}}
{{- $needs -}}
{{- end -}}
