{{/* What all Pods of this chart have in common: nothing that they could do without. */}}

{{/* A Pod's metadata. Call with (list $ "exporter" .Values.exporter). */}}
{{- define "k8sjob.podMetadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "k8sjob.labels" (list $root (index . 1) (merge (dict) ((index . 2).podLabels | default dict) ($root.Values.podLabels | default dict))) | nindent 2 }}
{{- with merge (dict) ((index . 2).podAnnotations | default dict) ($root.Values.podAnnotations | default dict) ($root.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
Sidecars, each name once: the part's take the place of those of all. Without a context of its own one
would keep the Pod out of namespaces that are `restricted`.
*/}}
{{- define "k8sjob.sidecars" -}}
{{- $values := .root.Values -}}
{{- $known := concat ($values.sidecars | default list) (.part.sidecars | default list) -}}
{{- $last := dict -}}
{{- range $known -}}{{- $_ := set $last .name . -}}{{- end -}}
{{- $found := list -}}
{{- range $known -}}
{{- with get $last .name -}}
{{- $one := set (deepCopy .) "restartPolicy" "Always" -}}
{{- if not (hasKey $one "securityContext") -}}{{- $_ := set $one "securityContext" $values.securityContext -}}{{- end -}}
{{- $found = append $found $one -}}
{{- $_ := unset $last .name -}}
{{- end -}}
{{- end -}}
{{- with $found -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* All of a Pod's spec but its containers. Call with a dict: root, part, account, token, role, grace. */}}
{{- define "k8sjob.podSpec" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ .account | quote }}
automountServiceAccountToken: {{ .token }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .grace }}
{{- $secrets := list }}
{{- range concat (($values.global).imagePullSecrets | default list) ($values.imagePullSecrets | default list) }}
{{- $secrets = append $secrets (kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") .) }}
{{- end }}
{{- with $secrets | uniq }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $values.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with index $.part $key | default (index $values $key) }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $key := list "hostAliases" "dnsConfig" }}
{{- with index $values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "k8sjob.sidecars" . }}
initContainers:
  {{- . | nindent 2 }}
{{- end }}
volumes:
  - name: ledgers
    projected:
      defaultMode: 292  # 0444: the container's user is not the files'
      sources:
        {{- range $name, $ledger := $values.ledgers }}
        {{- if or (ne $.role "owner") (include "k8sjob.migrates" $ledger) }}
        - secret:
            name: {{ include "k8sjob.secretOf" (list $ledger $.role) | quote }}
            items:
              - key: {{ include "k8sjob.keyOf" (list $ledger $.role) | quote }}
                path: {{ $name | quote }}
        {{- end }}
        {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/*
A container's variables, each once, since Kubernetes refuses a name twice: the part's win over those
of all, and these over the chart's. Each stands where it was first, for $(NAME) looks back only.
*/}}
{{- define "k8sjob.env" -}}
{{- $known := list (dict "name" "K8SJOB_LEDGERS_DIR" "value" "/etc/k8sjob/ledgers") -}}
{{- $known = concat $known (.env | default list) (.root.Values.extraEnv | default list) (.part.extraEnv | default list) -}}
{{- $last := dict -}}
{{- range $known -}}{{- $_ := set $last .name . -}}{{- end -}}
{{- $env := list -}}
{{- range $known -}}
{{- with get $last .name -}}
{{- $env = append $env . -}}
{{- $_ := unset $last .name -}}
{{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

{{/* All of a container but its name and command. Call with a dict: root, part; env. */}}
{{- define "k8sjob.container" -}}
{{- $values := .root.Values -}}
image: {{ include "k8sjob.image" .root | quote }}
imagePullPolicy: {{ $values.image.pullPolicy }}
env:
  {{- include "k8sjob.env" . | nindent 2 }}
securityContext:
  {{- toYaml $values.securityContext | nindent 2 }}
{{- with .part.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - name: ledgers
    mountPath: /etc/k8sjob/ledgers
    readOnly: true
  {{- with $values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A Pod of `helm test`. Call with a dict: root, for (what doctor looks at), part (whose Pod). */}}
{{- define "k8sjob.doctor" -}}
{{- $part := index .root.Values .part -}}
apiVersion: v1
kind: Pod
metadata:
  {{- include "k8sjob.metadata" (dict "root" .root "component" "test" "name" (printf "%s-test-%s" (include "k8sjob.fullname" .root) .for) "labels" .root.Values.podLabels "annotations" (merge (dict "helm.sh/hook" "test" "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded") (.root.Values.podAnnotations | default dict))) | nindent 2 }}
spec:
  restartPolicy: Never
  {{- include "k8sjob.podSpec" (dict "root" .root "part" $part "account" (include "k8sjob.serviceAccount" (list .root .part)) "token" .token "role" .role "grace" 5) | nindent 2 }}
  containers:
    - name: doctor
      args:
        - doctor
        - --for={{ .for }}
        {{- if .token }}
        {{- range .root.Values.scope.namespaces | default list | uniq | sortAlpha }}
        - --namespace={{ . }}
        {{- end }}
        {{- end }}
      {{- include "k8sjob.container" (dict "root" .root "part" (dict "extraEnv" $part.extraEnv "resources" $part.resources) "env" (list (dict "name" "K8SJOB_LOG_FORMAT" "value" "text"))) | nindent 6 }}
{{- end -}}

{{/* Exit codes that another try cannot mend: the table of the README. */}}
{{- define "k8sjob.permanentCodes" -}}
[64, 65, 66, 70, 76, 77, 78, 81, 82, 83]
{{- end -}}
