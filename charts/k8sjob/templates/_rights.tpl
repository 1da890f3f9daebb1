{{/* What each component may do in the cluster: these verbs, and no other. */}}

{{- define "k8sjob.reconcilerRules" -}}
- apiGroups: ["batch"]
  resources: ["cronjobs"]
  verbs: ["list"]
- apiGroups: ["batch"]
  resources: ["jobs"]
  verbs: {{ .Values.reconciler.catchUp.enabled | ternary (list "create" "get" "list") (list "list") | toJson }}
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["list"]
- apiGroups: [""]
  resources: ["events"]
  verbs: ["list"]
{{- end -}}

{{- define "k8sjob.controlRules" -}}
{{- $cronjobs := concat (.Values.backfill.enabled | ternary (list "get") list) (.Values.control.readCluster | ternary (list "get" "list") list) -}}
{{- $jobs := concat (.Values.backfill.enabled | ternary (list "create" "get" "list") list) (.Values.control.readCluster | ternary (list "get" "list") list) -}}
- apiGroups: ["batch"]
  resources: ["cronjobs"]
  verbs: {{ $cronjobs | uniq | toJson }}
- apiGroups: ["batch"]
  resources: ["jobs"]
  verbs: {{ $jobs | uniq | toJson }}
{{- if .Values.control.readCluster }}
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["list"]
- apiGroups: [""]
  resources: ["events"]
  verbs: ["list"]
{{- end }}
{{- end -}}

{{/* "true" where the control Pod calls the API, else nothing. */}}
{{- define "k8sjob.controlCalls" -}}
{{- if and .Values.control.enabled (or .Values.backfill.enabled .Values.control.readCluster) -}}true{{- end -}}
{{- end -}}

{{/* A ClusterRole, or a Role in each namespace of the scope. Call with (list $ "reconciler"). */}}
{{- define "k8sjob.role" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- range $root.Values.scope.namespaces | default list | uniq | sortAlpha | default (list "") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ . | empty | ternary "ClusterRole" "Role" }}
metadata:
  {{- include "k8sjob.metadata" (dict "root" $root "component" $part "name" (include "k8sjob.wideName" (list $root $part))) | nindent 2 }}
  {{- with . }}
  namespace: {{ . | quote }}
  {{- end }}
rules:
  {{- include (printf "k8sjob.%sRules" $part) $root | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "k8sjob.roleBinding" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- range $root.Values.scope.namespaces | default list | uniq | sortAlpha | default (list "") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ . | empty | ternary "ClusterRoleBinding" "RoleBinding" }}
metadata:
  {{- include "k8sjob.metadata" (dict "root" $root "component" $part "name" (include "k8sjob.wideName" (list $root $part))) | nindent 2 }}
  {{- with . }}
  namespace: {{ . | quote }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ . | empty | ternary "ClusterRole" "Role" }}
  name: {{ include "k8sjob.wideName" (list $root $part) | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ include "k8sjob.serviceAccount" (list $root $part) | quote }}
    namespace: {{ $root.Release.Namespace | quote }}
{{- end }}
{{- end -}}

{{- define "k8sjob.account" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "k8sjob.metadata" (dict "root" $root "component" $part "name" (include "k8sjob.serviceAccount" .) "annotations" (index $root.Values $part).serviceAccount.annotations) | nindent 2 }}
automountServiceAccountToken: false
{{- end -}}
