{{/* Values that cannot work, or would do more than was meant: refused before anything is done. */}}
{{- define "k8sjob.check" -}}
{{- if not .Values.ledgers -}}
{{- fail (printf "no ledger is given, so there is nothing to look after. Nothing was installed.\n  Put the DSNs of its owner, operator and reader into a Secret, and name it:\n  kubectl -n %s create secret generic k8sjob-ledger --from-file=owner --from-file=operator --from-file=reader\n  --set ledgers.default.existingSecret=k8sjob-ledger" .Release.Namespace) -}}
{{- end -}}
{{- if and .Values.backfill.enabled (not .Values.control.enabled) -}}
{{- fail "backfill.enabled gives rights to the control Pod, and control.enabled is false. Nothing was installed.\n  --set control.enabled=true, or --set backfill.enabled=false" -}}
{{- end -}}
{{- if eq .Values.reconciler.timeZone "Local" -}}
{{- fail "reconciler.timeZone is Local, which Kubernetes refuses. Nothing was installed.\n  --set reconciler.timeZone=Etc/UTC, or a zone of the IANA database" -}}
{{- end -}}
{{- range $part := list .Values .Values.migrate .Values.reconciler .Values.prune .Values.exporter .Values.control -}}
{{- range $part.extraEnv -}}
{{- if has .name (list "K8SJOB_DSN" "K8SJOB_DSN_FILE" "K8SJOB_LEDGERS_DIR" "PGHOST" "PGHOSTADDR" "PGSERVICE") -}}
{{- fail (printf "extraEnv sets %s, which would bring a ledger that nobody has asked for. Nothing was installed.\n  Put the DSN into a Secret, and name it: --set ledgers.NAME.existingSecret=SECRET" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $part := list .Values .Values.migrate .Values.reconciler .Values.prune .Values.exporter .Values.control -}}
{{- range $part.sidecars -}}
{{- if or (has .name (list "serve" "control" "reconcile" "doctor")) (and (regexMatch "^(migrate|prune)-" .name) (hasKey $.Values.ledgers (regexReplaceAll "^[a-z]+-" .name ""))) -}}
{{- fail (printf "sidecars has %s, as the chart calls a container of its own. Nothing was installed.\n  Give it another name" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraVolumes -}}
{{- if eq .name "ledgers" -}}
{{- fail "extraVolumes has ledgers, as the chart calls the volume with the DSNs. Nothing was installed.\n  Give it another name" -}}
{{- end -}}
{{- end -}}
{{- include "k8sjob.checkSecrets" . -}}
{{- $service := .Values.exporter.service -}}
{{- range $key := list "loadBalancerSourceRanges" "loadBalancerClass" -}}
{{- if and $.Values.exporter.enabled (index $service $key) (ne $service.type "LoadBalancer") -}}
{{- fail (printf "exporter.service.%s is of a LoadBalancer, and exporter.service.type is %s, where Kubernetes refuses it. Nothing was installed.\n  --set exporter.service.type=LoadBalancer, or leave it out" $key $service.type) -}}
{{- end -}}
{{- end -}}
{{- include "k8sjob.checkAccounts" . -}}
{{- $needs := include "k8sjob.migrateSeconds" . | int64 -}}
{{- $given := .Values.migrate.activeDeadlineSeconds | int64 -}}
{{- if and .Values.migrate.enabled $given (lt $given $needs) -}}
{{- fail (printf "migrate.wait=%[1]s and migrate.backoffLimit=%[2]d take the hook up to %[3]d seconds, and migrate.activeDeadlineSeconds ends it after %[4]d. Nothing was installed.\n  --set migrate.activeDeadlineSeconds=0 (as long as its tries need), and helm … --timeout %[5]ds" .Values.migrate.wait (.Values.migrate.backoffLimit | int64) $needs $given (add $needs 60)) -}}
{{- end -}}
{{- $kept := 0 -}}
{{- range .Values.ledgers -}}
{{- if include "k8sjob.migrates" . -}}{{- $kept = add1 $kept -}}{{- end -}}
{{- end -}}
{{- if and .Values.migrate.enabled (gt (int $kept) 19) -}}
{{- fail (printf "the hook would keep the schemas of %d ledgers, and Kubernetes takes 20 rules in a podFailurePolicy: one a ledger, and one for evictions. Nothing was installed.\n  Write migrate: false for some and call k8sjob migrate for them, or make a second release" (int $kept)) -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.exporter.enabled) -}}
{{- fail "serviceMonitor.enabled lets Prometheus scrape the exporter, and exporter.enabled is false. Nothing was installed.\n  --set exporter.enabled=true, or --set serviceMonitor.enabled=false" -}}
{{- end -}}
{{- end -}}

{{/* Accounts: no rights for each Pod of a namespace, and no object twice. */}}
{{- define "k8sjob.checkAccounts" -}}
{{- $made := dict -}}
{{- range $part := list "reconciler" "control" "exporter" -}}
{{- $own := index $.Values $part -}}
{{- if $own.enabled -}}
{{- $name := include "k8sjob.serviceAccount" (list $ $part) -}}
{{- $calls := or (eq $part "reconciler") (and (eq $part "control") (include "k8sjob.controlCalls" $)) -}}
{{- if and $calls $.Values.rbac.create (eq $name "default") -}}
{{- fail (printf "the rights of the %[1]s would go to the account default, which each Pod of namespace %[2]s has that names no other. Nothing was installed.\n  --set %[1]s.serviceAccount.name=NAME (an account of %[1]s alone), or %[1]s.serviceAccount.create=true with no name.\n  To give rights yourself: --set rbac.create=false" $part $.Release.Namespace) -}}
{{- end -}}
{{- if $own.serviceAccount.create -}}
{{- with get $made $name -}}
{{- fail (printf "%[1]s and %[2]s would both make the account %[3]s. Nothing was installed.\n  Let one make it: --set %[2]s.serviceAccount.create=false; or give it another name: --set %[2]s.serviceAccount.name=NAME" . $part $name) -}}
{{- end -}}
{{- $_ := set $made $name $part -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Secrets: each role that somebody has is in one, and no DSN is looked after twice. */}}
{{- define "k8sjob.checkSecrets" -}}
{{- $users := dict "owner" .Values.migrate.enabled "operator" (or .Values.reconciler.enabled .Values.prune.enabled .Values.control.enabled) "reader" .Values.exporter.enabled -}}
{{- range $role := list "owner" "operator" "reader" -}}
{{- $seen := dict -}}
{{- range $name, $ledger := $.Values.ledgers -}}
{{- $secret := include "k8sjob.secretOf" (list $ledger $role) -}}
{{- $used := and (get $users $role) (or (ne $role "owner") (include "k8sjob.migrates" $ledger)) -}}
{{- if and $used (not $secret) -}}
{{- fail (printf "ledgers.%[1]s names no Secret with the DSN of its %[2]s. Nothing was installed.\n  --set ledgers.%[1]s.existingSecret=SECRET for all of its roles, or ledgers.%[1]s.%[2]sSecret=SECRET" $name $role) -}}
{{- end -}}
{{- $dsn := printf "%s/%s" $secret (include "k8sjob.keyOf" (list $ledger $role)) -}}
{{- if and $secret (ne $role "owner") (hasKey $seen $dsn) -}}
{{- fail (printf "ledgers %s and %s have one DSN (Secret and key %s), so all of it would be counted and looked after twice. Nothing was installed.\n  Take one of them away, or give each its keys: --set ledgers.%s.%sKey=KEY" (get $seen $dsn) $name $dsn $name $role) -}}
{{- end -}}
{{- $_ := set $seen $dsn $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
