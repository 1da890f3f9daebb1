{{/* Where all Pods get out to. */}}

{{- define "k8sjob.egress" -}}
{{- $own := .Values.networkPolicy -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
  {{- with $own.dns.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
- ports:
    {{- range $own.database.ports }}
    - port: {{ . }}
      protocol: TCP
    {{- end }}
  {{- with $own.database.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
