{{- define "k8sjob-jobs.ledger-mount" -}}
- name: ledger
  mountPath: /var/run/secrets/k8sjob
  readOnly: true
{{- end -}}

{{- define "k8sjob-jobs.token-mount" -}}
- name: token
  mountPath: /var/run/secrets/kubernetes.io/serviceaccount
  readOnly: true
{{- end -}}

{{/* What Kubernetes would mount by itself, into every container. */}}
{{- define "k8sjob-jobs.token-volume" -}}
- name: token
  projected:
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 3600
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
      - downwardAPI:
          items:
            - path: namespace
              fieldRef:
                fieldPath: metadata.namespace
{{- end -}}

{{- define "k8sjob-jobs.ledger-volume" -}}
- name: ledger
{{- if .caSecret }}
  projected:
    sources:
      - secret:
          name: {{ .existingSecret | quote }}
          items:
            - key: {{ .key | quote }}
              path: dsn
      - secret:
          name: {{ .caSecret | quote }}
          items:
            - key: {{ .caKey | quote }}
              path: ca.crt
{{- else }}
  secret:
    secretName: {{ .existingSecret | quote }}
    items:
      - key: {{ .key | quote }}
        path: dsn
{{- end }}
{{- end -}}
