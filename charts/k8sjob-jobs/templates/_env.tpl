{{/* Who and where a container of k8sjob is, and how the job's periods are kept. */}}
{{- define "k8sjob-jobs.own-env" -}}
- name: K8SJOB_CRONJOB
  value: {{ .name | quote }}
- name: K8SJOB_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: K8SJOB_JOB_NAME
  valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-name']"}}
- name: K8SJOB_JOB_UID
  valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']"}}
- name: K8SJOB_POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: K8SJOB_POD_UID
  valueFrom: {fieldRef: {fieldPath: metadata.uid}}
- name: K8SJOB_NODE
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
- name: K8SJOB_DSN_FILE
  value: /var/run/secrets/k8sjob/dsn
{{- if .ledger.caSecret }}
{{- /* Who names an authority wants the server checked; a DSN's own sslmode wins. */}}
- name: PGSSLROOTCERT
  value: /var/run/secrets/k8sjob/ca.crt
- name: PGSSLMODE
  value: verify-full
{{- end }}
- name: K8SJOB_TIME_ZONE
  value: {{ .cron.timeZone | quote }}
{{- range $variable, $value := dict
      "JOB" .cron.job "CYCLE" .cron.cycle "MANUAL_RUNS" .cron.manualRuns
      "MAX_LATENESS" .cron.maxLateness "FAIL_ON" (join "," .cron.failOn) }}
{{- if $value }}
- name: K8SJOB_{{ $variable }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What `k8sjob run` is told beside it. */}}
{{- define "k8sjob-jobs.run-env" -}}
- name: K8SJOB_STOP_GRACE
  value: {{ .cron.stopGrace | quote }}
{{- with .cron.lockTimeout }}
- name: K8SJOB_LOCK_TIMEOUT
  value: {{ . | quote }}
{{- end }}
{{- with .cron.payload }}
- name: K8SJOB_PAYLOAD
  value: {{ . | quote }}
{{- end }}
{{- if not (kindIs "invalid" .cron.outputBytes) }}
- name: K8SJOB_OUTPUT_BYTES
  value: {{ int64 .cron.outputBytes | quote }}
{{- end }}
{{- end -}}

{{/* The user's variables, from a map or a list. */}}
{{- define "k8sjob-jobs.user-env" -}}
{{- if .ledger.env }}
- name: {{ .ledger.env | quote }}
  valueFrom:
    secretKeyRef:
      name: {{ .ledger.existingSecret | quote }}
      key: {{ .ledger.key | quote }}
{{- end }}
{{- if kindIs "map" .cron.env }}
{{- range $name, $value := .cron.env }}
- name: {{ $name | quote }}
  {{- if kindIs "map" $value }}
  {{- toYaml $value | nindent 2 }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- else }}
{{- range .cron.env }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end -}}
