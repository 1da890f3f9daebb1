{{/*
The exit codes of k8sjob after which no other try can help (k8sjob/errors.py, EXIT_TABLE), in ascending
order, as Kubernetes wants them.
*/}}
{{- define "k8sjob-jobs.permanent-codes" -}}
64,65,66,70,76,77,78,81,82,83
{{- end -}}

{{/*
The first rule that fits decides. A code that no other try can help ends the Job even where the Pod was
evicted; any other end of an evicted Pod does not count as a failure. Each rule names its container: without
a name the code of a mesh's sidecar would count.
*/}}
{{- define "k8sjob-jobs.failure-policy" -}}
{{- $own := list -}}
{{- range splitList "," (include "k8sjob-jobs.permanent-codes" .) -}}
{{- $own = append $own (int .) -}}
{{- end -}}
{{- $main := list -}}
{{- range .cron.permanentExitCodes -}}
{{- $main = append $main (int .) -}}
{{- end -}}
{{- $rules := list -}}
{{- if eq .cron.mode "run" -}}
{{- $main = concat $main $own -}}
{{- else -}}
{{- $rules = append $rules (dict "codes" $own "container" "resolve") -}}
{{- end -}}
{{- if $main -}}
{{- $rules = prepend $rules (dict "codes" $main "container" "main") -}}
{{- end -}}
rules:
{{- range $rules }}
  - action: FailJob
    onExitCodes:
      containerName: {{ .container }}
      operator: In
      values: {{ include "k8sjob-jobs.ascending" .codes }}
{{- end }}
  - action: Ignore
    onPodConditions:
      - type: DisruptionTarget
        status: "True"
{{- end -}}

{{/* Exit codes, each once, in ascending order. */}}
{{- define "k8sjob-jobs.ascending" -}}
{{- $texts := list -}}
{{- range . -}}
{{- $texts = append $texts (printf "%03d" (int .)) -}}
{{- end -}}
{{- $codes := list -}}
{{- range uniq (sortAlpha $texts) -}}
{{- $codes = append $codes (regexReplaceAll "^0+" . "") -}}
{{- end -}}
[{{ join ", " $codes }}]
{{- end -}}

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
  secret:
    secretName: {{ .existingSecret | quote }}
    items:
      - key: {{ .key | quote }}
        path: dsn
{{- end -}}

{{/* Security of k8sjob's own containers. */}}
{{- define "k8sjob-jobs.locked-down" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The words that the main container starts with. */}}
{{- define "k8sjob-jobs.words" -}}
{{- $cron := .cron -}}
{{- $program := concat ($cron.command | default list) ($cron.args | default list) -}}
{{- if eq $cron.mode "run" -}}
{{- $words := list "k8sjob" "run" -}}
{{- if $cron.target -}}
{{- $words = concat $words (ternary $cron.target (list $cron.target) (kindIs "slice" $cron.target)) -}}
{{- else -}}
{{- $words = concat $words (ternary (list "--record-on-success") list $cron.recordOnSuccess) (list "--") $program -}}
{{- end -}}
command: {{ toJson $words }}
{{- else if $cron.shell -}}
command:
  - sh
  - -c
  - |
    {{- include "k8sjob-jobs.wrapper" . | nindent 4 }}
  - sh
{{ toYaml $program | indent 2 }}
{{- else -}}
{{- with $cron.command -}}
command: {{ toJson . }}
{{ end -}}
{{- with $cron.args -}}
args: {{ toJson . }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
A shell that is process 1 gets no signal that it does not ask for, and passes none on. The file `exit` is what
the sidecar goes by: on Pod deletion the API never shows the end in time. Its variables have long names, since
the program may be given one that is called `code`.
*/}}
{{- define "k8sjob-jobs.wrapper" -}}
. /k8sjob/env || exit
k8sjob_stop='' k8sjob_again=1 k8sjob_child='' k8sjob_code=''
trap 'k8sjob_stop=1 k8sjob_again=1; [ -z "$k8sjob_child" ] || kill -TERM "$k8sjob_child"' TERM INT
"$@" &
k8sjob_child=$!
[ -z "$k8sjob_stop" ] || kill -TERM "$k8sjob_child"
while [ -n "$k8sjob_again" ]; do # a signal ends a wait before the program has ended
  k8sjob_again=''
  wait "$k8sjob_child"
  k8sjob_got=$?
  [ -n "$k8sjob_code" ] && [ "$k8sjob_got" -eq 127 ] || k8sjob_code=$k8sjob_got
done
echo "$k8sjob_code" >/k8sjob/exit
exit "$k8sjob_code"
{{- end -}}

{{/* The Pod's spec. */}}
{{- define "k8sjob-jobs.pod" -}}
{{- $root := .root -}}
{{- $cron := .cron -}}
{{- $run := eq $cron.mode "run" -}}
restartPolicy: Never
serviceAccountName: {{ default (include "k8sjob-jobs.service-account" $root) $cron.serviceAccountName | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "k8sjob-jobs.grace" $cron }}
{{- with include "k8sjob-jobs.pull-secrets" $root }}
{{ . }}
{{- end }}
{{- with $cron.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if or (not $run) $cron.initContainers $cron.sidecars }}
initContainers:
  {{- $beside := list }}
  {{- range $cron.sidecars }}
  {{- $beside = append $beside (set (deepCopy .) "restartPolicy" "Always") }}
  {{- end }}
  {{- /* The first to start is the last to stop: a proxy is there as long as k8sjob speaks to the ledger. */}}
  {{- if and (not $run) $beside }}
  {{- toYaml $beside | nindent 2 }}
  {{- end }}
  {{- if not $run }}
  {{- include "k8sjob-jobs.resolve" . | nindent 2 }}
  {{- end }}
  {{- with $cron.initContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if $run }}
  {{- with $beside }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- else }}
  {{- include "k8sjob-jobs.sidecar" . | nindent 2 }}
  {{- end }}
{{- end }}
containers:
  {{- include "k8sjob-jobs.main" . | nindent 2 }}
volumes:
  {{- include "k8sjob-jobs.ledger-volume" .ledger | nindent 2 }}
  {{- include "k8sjob-jobs.token-volume" . | nindent 2 }}
  {{- if not $run }}
  - name: k8sjob
    emptyDir: {}
  {{- end }}
  {{- if $cron.tmp.enabled }}
  - name: tmp
    emptyDir:
      {{- if $cron.tmp.sizeLimit }}
      sizeLimit: {{ $cron.tmp.sizeLimit | quote }}
      {{- else }} {}
      {{- end }}
  {{- end }}
  {{- with $cron.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- range $name := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "hostAliases" "dnsConfig" }}
{{- with get $cron $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $name := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" }}
{{- with get $cron $name }}
{{ $name }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Above what the work may take to stop: k8sjob then writes how the attempt ended. */}}
{{- define "k8sjob-jobs.grace" -}}
{{- if kindIs "invalid" .terminationGracePeriodSeconds -}}
{{- add 20 (include "k8sjob-jobs.seconds" .stopGrace | int64) -}}
{{- else -}}
{{- int64 .terminationGracePeriodSeconds -}}
{{- end -}}
{{- end -}}

{{- define "k8sjob-jobs.main" -}}
{{- $cron := .cron -}}
{{- $run := eq $cron.mode "run" -}}
- name: main
  image: {{ include "k8sjob-jobs.image" (dict "root" .root "image" .image "tag" "") | quote }}
  imagePullPolicy: {{ .image.pullPolicy }}
  {{- with include "k8sjob-jobs.words" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $cron.workingDir }}
  workingDir: {{ . | quote }}
  {{- end }}
  env:
    {{- if $run }}
    {{- include "k8sjob-jobs.own-env" . | nindent 4 }}
    {{- include "k8sjob-jobs.run-env" . | nindent 4 }}
    {{- else }}
    - name: K8SJOB_CONTEXT
      value: /k8sjob
    {{- end }}
    {{- with include "k8sjob-jobs.user-env" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
  {{- with $cron.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $cron.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $cron.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationMessagePolicy: FallbackToLogsOnError
  {{- $mounts := include "k8sjob-jobs.main-mounts" . | trim }}
  {{- with $mounts }}
  volumeMounts:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "k8sjob-jobs.main-mounts" -}}
{{- if eq .cron.mode "run" }}
{{ include "k8sjob-jobs.ledger-mount" . }}
{{ include "k8sjob-jobs.token-mount" . }}
{{- else }}
- name: k8sjob
  mountPath: /k8sjob
{{- end }}
{{- if .cron.tmp.enabled }}
- name: tmp
  mountPath: /tmp
{{- end }}
{{- with .cron.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The init container that finds the period. */}}
{{- define "k8sjob-jobs.resolve" -}}
- name: resolve
  {{- include "k8sjob-jobs.own-container" . | nindent 2 }}
  command: [k8sjob, resolve, --write, /k8sjob]
  volumeMounts:
    {{- include "k8sjob-jobs.ledger-mount" . | nindent 4 }}
    {{- include "k8sjob-jobs.token-mount" . | nindent 4 }}
    - name: k8sjob
      mountPath: /k8sjob
{{- end -}}

{{/* The native sidecar that keeps the books. Where a file tells how the work ended, it asks nobody. */}}
{{- define "k8sjob-jobs.sidecar" -}}
- name: sidecar
  {{- include "k8sjob-jobs.own-container" . | nindent 2 }}
  command: [k8sjob, sidecar, --context, /k8sjob, --container, main]
  restartPolicy: Always
  volumeMounts:
    {{- include "k8sjob-jobs.ledger-mount" . | nindent 4 }}
    {{- if not .cron.shell }}
    {{- include "k8sjob-jobs.token-mount" . | nindent 4 }}
    {{- end }}
    - name: k8sjob
      mountPath: /k8sjob
{{- end -}}

{{- define "k8sjob-jobs.own-container" -}}
image: {{ include "k8sjob-jobs.own-image" .root | quote }}
imagePullPolicy: {{ .root.Values.sidecarImage.pullPolicy }}
env:
  {{- include "k8sjob-jobs.own-env" . | nindent 2 }}
{{- with .cron.sidecarResources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "k8sjob-jobs.locked-down" . | nindent 2 }}
{{- end -}}
