{{/* The ledgers: which there are, and which is meant where none is named. */}}

{{/* "true" where the chart keeps a ledger's schema, else nothing. Call with the ledger. */}}
{{- define "k8sjob.migrates" -}}
{{- if ne (toString .migrate) "false" -}}true{{- end -}}
{{- end -}}

{{/* The ledger that a command without --ledger looks at: "default", or else the only one. */}}
{{- define "k8sjob.defaultLedger" -}}
{{- if hasKey .Values.ledgers "default" -}}
default
{{- else if eq (len .Values.ledgers) 1 -}}
{{- keys .Values.ledgers | first -}}
{{- end -}}
{{- end -}}
