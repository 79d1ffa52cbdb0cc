{{- /*
Values that cannot work together, a line each. values.schema.json checks each value alone.
*/ -}}
{{- define "webhookd.problems" -}}
{{- include "webhookd.problems.names" . -}}
{{- include "webhookd.problems.rules" . -}}
{{- include "webhookd.problems.tls" . -}}
{{- include "webhookd.problems.crdWiring" . -}}
{{- include "webhookd.problems.keptValues" . -}}
{{- include "webhookd.problems.conversionGuard" . -}}
{{- include "webhookd.problems.pods" . -}}
{{- include "webhookd.problems.network" . -}}
{{- include "webhookd.problems.metrics" . -}}
{{- end -}}

{{- define "webhookd.problems.names" -}}
{{- $name := include "webhookd.fullname" . -}}
{{- range dig "items" list (lookup "v1" "Service" (include "webhookd.namespace" .) "") }}
{{- $of := dig "metadata" "annotations" "meta.helm.sh/release-name" "" . -}}
{{- $selects := dig "spec" "selector" "app.kubernetes.io/component" "" . -}}
{{- $is := dig "metadata" "labels" "app.kubernetes.io/component" "" . -}}
{{- $chart := dig "metadata" "labels" "helm.sh/chart" "" . -}}
{{- if and (hasPrefix (printf "%s-" $.Chart.Name) $chart) (eq $of $.Release.Name) (eq $selects "server") (ne $is "metrics") (ne .metadata.name $name) }}
- the Service {{ .metadata.name }} of this release would be replaced by {{ $name }}, and objects of the CRDs that name the old Service could not be read. Keep the name with fullnameOverride={{ .metadata.name }}; or, if no CRD names the Service, delete it first.
{{- end }}
{{- end }}
{{- end -}}

{{- define "webhookd.problems.rules" -}}
{{- $files := include "webhookd.files" . | fromJson -}}
{{- range $files.missing }}
- rules convert {{ . }}, but the schema of that CRD is missing: set it with --set-file crds.NAME=crd.yaml, in the same file as the rules, or in a ConfigMap that crdsFrom names. (helm install and upgrade read it from the cluster if it is there; helm template cannot.)
{{- end }}
{{- if and .Values.rules (not .Values.rulesFrom) (not $files.conversions) }}
- rules contain no Conversion, so no replica would become ready: set one with --set-file rules.NAME=rules.yaml, or remove rules.
{{- end }}
{{- range include "webhookd.neededRules" . | fromJsonArray }}
- rules convert {{ . }} no longer, but this CRD still sends its conversions here: its objects could not be read, or could not be applied. Keep the rules until the CRD has one version or points elsewhere; docs/how-to/wire-a-crd.md has the commands. If a converter in Go handles it, name it in crdWiring.crds.
{{- end }}
{{- if and .Values.rulesFrom (not .Values.crdsFrom) (not $files.crds) }}
- rulesFrom is set without crds or crdsFrom: rules need the schemas of the CRDs that they convert.
{{- end }}
{{- if and (or .Values.crds .Values.crdsFrom) (not .Values.rules) (not .Values.rulesFrom) }}
- crds are set without rules: set rules or rulesFrom, or remove the CRDs.
{{- end }}
{{- range $name, $list := dict "rules" $files.rules "crds" $files.crds }}
{{- $size := 0 -}}
{{- range $file, $text := $list -}}
{{- $size = add $size (len $file) (len $text) -}}
{{- end -}}
{{- if gt $size 1000000 }}
- {{ $name }} have {{ $size }} bytes, but a ConfigMap holds 1 MiB at most: put the files into ConfigMaps of your own, and name those in {{ $name }}From.
{{- end }}
{{- end }}
{{- end -}}

{{- define "webhookd.problems.tls" -}}
{{- with .Values.tls }}
{{- if and (eq .mode "existingSecret") (not .existingSecret) }}
- tls.mode is existingSecret, but tls.existingSecret does not name the Secret.
{{- end }}
{{- if and .existingSecret (ne .mode "existingSecret") }}
- tls.existingSecret is set, but tls.mode is {{ .mode }}: set tls.mode=existingSecret, or remove the name.
{{- end }}
{{- if and .certManager.issuerRef (ne .mode "certManager") }}
- tls.certManager.issuerRef is set, but tls.mode is {{ .mode }}: set tls.mode=certManager, or remove the issuer.
{{- end }}
{{- if eq .mode "certManager" }}
{{- if le (include "webhookd.milliseconds" .certManager.duration | int64) (include "webhookd.milliseconds" .certManager.renewBefore | int64) }}
- tls.certManager.renewBefore is not below tls.certManager.duration: the certificate would be renewed forever.
{{- end }}
{{- if le (include "webhookd.milliseconds" .certManager.ca.renewBefore | int64) (include "webhookd.milliseconds" .certManager.duration | int64) }}
- tls.certManager.ca.renewBefore is not above tls.certManager.duration: a leaf could outlive the CA in the CRDs' caBundle.
{{- end }}
{{- if le (include "webhookd.milliseconds" .certManager.ca.duration | int64) (include "webhookd.milliseconds" .certManager.ca.renewBefore | int64) }}
- tls.certManager.ca.renewBefore is not below tls.certManager.ca.duration: the CA would be renewed forever.
{{- end }}
{{- end }}
{{- if and (eq .mode "helm") (gt (int64 .helm.leafValidityDays) (int64 .helm.caValidityDays)) }}
- tls.helm.leafValidityDays is above tls.helm.caValidityDays: a leaf cannot outlive its CA.
{{- end }}
{{- if eq .mode "selfManaged" }}
{{- $leaf := include "webhookd.milliseconds" .selfManaged.leafValidity | int64 -}}
{{- if lt (include "webhookd.milliseconds" .selfManaged.caValidity | int64) (mul 4 $leaf) }}
- tls.selfManaged.caValidity is less than four times tls.selfManaged.leafValidity: a leaf must not outlive its CA, not even while a new CA is introduced.
{{- end }}
{{- if lt $leaf (mul 6 3600000 | int64) }}
- tls.selfManaged.leafValidity is below 6h: a leaf is renewed when a third of its life is left, and a new CA takes two steps of an hour each to reach all clients.
{{- end }}
{{- $hours := include "webhookd.hoursBetween" .selfManaged.schedule | int64 -}}
{{- if lt $leaf (mul 3 3600000 $hours) }}
- tls.selfManaged.schedule is {{ .selfManaged.schedule }}, every {{ $hours }}h, but a leaf of {{ .selfManaged.leafValidity }} is renewed only in its last third: run the Job several times in that third, or make leaves valid for longer.
{{- end }}
{{- end }}
{{- if and .caBundle (or (eq .mode "helm") (eq .mode "selfManaged")) }}
- tls.caBundle is set, but with tls.mode {{ .mode }} the release creates its own CA: remove it.
{{- end }}
{{- if and .caBundle (not (contains "-----BEGIN CERTIFICATE-----" .caBundle)) }}
- tls.caBundle contains no PEM certificate: set it from the file with --set-file tls.caBundle=ca.crt.
{{- end }}
{{- end }}
{{- end -}}

{{- define "webhookd.problems.crdWiring" -}}
{{- if ne .Values.crdWiring.mode "manual" }}
{{- if not (include "webhookd.wiredCRDs" . | fromJsonArray) }}
- crdWiring.mode is {{ .Values.crdWiring.mode }}, but crdWiring.crds names no CRD and no rules do either: name them in crdWiring.crds.
{{- end }}
{{- end }}
{{- if and (eq .Values.crdWiring.mode "annotate") (not (has .Values.tls.mode (list "certManager" "existingSecret"))) }}
- crdWiring.mode is annotate, but tls.mode is {{ .Values.tls.mode }}: cert-manager injects only the CA of its own certificates, or of a Secret that allows it (tls.mode certManager or existingSecret).
{{- end }}
{{- if and (eq .Values.crdWiring.mode "job") (index .Values.config "client-ca-file") }}
- crdWiring.mode is job, but config.client-ca-file refuses clients without a certificate, such as kube-apiserver: point the CRDs at the proxy in front.
{{- end }}
{{- end -}}

{{- define "webhookd.problems.keptValues" -}}
{{- with .Values.keptValues }}
{{- if .gate }}
{{- if not (include "webhookd.keptValues.crds" $ | fromJsonArray) }}
- keptValues.gate is true, but the values name no CRD: name CRDs in crdWiring.crds.
{{- end }}
{{- $reported := (include "webhookd.files" $ | fromJson).missing -}}
{{- range $name, $others := include "webhookd.keptValues.others" $ | fromJson }}
{{- if and (kindIs "invalid" $others) (not (has $name $reported)) }}
- keptValues.gate needs the versions of {{ $name }}, but that CRD is missing: set it with --set-file crds.NAME=crd.yaml. (helm install and upgrade read it from the cluster if it is there; helm template cannot.)
{{- end }}
{{- end }}
{{- end }}
{{- if and .allowGroup (eq .guard "none") }}
- keptValues.allowGroup is set, but keptValues.guard is none, so anyone may change kept values: set keptValues.guard, or remove the group.
{{- end }}
{{- end }}
{{- range $value, $mode := dict "keptValues.guard" .Values.keptValues.guard "conversionGuard.mode" .Values.conversionGuard.mode }}
{{- if and (eq $mode "restore") (semverCompare "<1.36.0-0" $.Capabilities.KubeVersion.Version) }}
- {{ $value }} is restore, which needs Kubernetes 1.36, and this is {{ $.Capabilities.KubeVersion.Version }}: set it to validate. (helm template takes the version from --kube-version.)
{{- end }}
{{- end }}
{{- end -}}

{{- define "webhookd.problems.pods" -}}
{{- range $name, $resources := dict "resources" .Values.resources "jobs.resources" .Values.jobs.resources }}
{{- range $resource, $limit := dig "limits" dict ($resources | default dict) }}
{{- $request := dig "requests" $resource "" $resources }}
{{- $asked := include "webhookd.quantity" $request -}}
{{- $allowed := include "webhookd.quantity" $limit -}}
{{- if and $asked $allowed (gt (float64 $asked) (float64 $allowed)) }}
- {{ $name }}.requests.{{ $resource }} is {{ $request }}, above {{ $name }}.limits.{{ $resource }}, {{ $limit }}: the API server refuses such a pod. Set both.
{{- end }}
{{- end }}
{{- end }}
{{- if eq (int .Values.ports.webhook) (int .Values.ports.admin) }}
- ports.webhook and ports.admin are the same: {{ .Values.ports.admin }}.
{{- end }}
{{- $drain := include "webhookd.milliseconds" (index .Values.config "drain-delay" | default "15s") | int64 -}}
{{- $shutdown := include "webhookd.milliseconds" (index .Values.config "shutdown-timeout" | default "30s") | int64 -}}
{{- $sleep := dig "preStop" "sleep" "seconds" 0 .Values.lifecycle | int64 -}}
{{- $needed := add $drain $shutdown (mul $sleep 1000) -}}
{{- if le (mul (int64 .Values.terminationGracePeriodSeconds) 1000) $needed }}
- terminationGracePeriodSeconds is {{ .Values.terminationGracePeriodSeconds }}, but must be above {{ divf $needed 1000 }}: the sum of config.drain-delay, config.shutdown-timeout and the sleep of lifecycle.preStop.
{{- end }}
{{- with .Values.podDisruptionBudget }}
{{- if and .enabled .minAvailable .maxUnavailable }}
- podDisruptionBudget has both minAvailable and maxUnavailable: set one of them to "".
{{- end }}
{{- $replicas := $.Values.autoscaling.enabled | ternary $.Values.autoscaling.minReplicas $.Values.replicaCount | int -}}
{{- $kept := 0 -}}
{{- if hasSuffix "%" (toString .minAvailable) -}}
{{- $kept = divf (mul (trimSuffix "%" .minAvailable | int) $replicas) 100 | ceil | int -}}
{{- else -}}
{{- $kept = int .minAvailable -}}
{{- end -}}
{{- if and .enabled .minAvailable (ge $kept $replicas) }}
- podDisruptionBudget.minAvailable is {{ .minAvailable }} of {{ $replicas }} replicas: no node could be drained.
{{- end }}
{{- if and .enabled (not .minAvailable) (has (toString .maxUnavailable) (list "" "0" "0%" "<nil>")) }}
- podDisruptionBudget.maxUnavailable is {{ toString .maxUnavailable | replace "<nil>" "" | default "empty" }}, and minAvailable is not set: no node could be drained. Set one of them, or enabled to false.
{{- end }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
- autoscaling.minReplicas is above autoscaling.maxReplicas.
{{- end }}
{{- if not (or .targetCPUUtilizationPercentage .targetMemoryUtilizationPercentage) }}
- autoscaling is enabled without a target: set autoscaling.targetCPUUtilizationPercentage.
{{- end }}
{{- range $resource, $target := dict "cpu" .targetCPUUtilizationPercentage "memory" .targetMemoryUtilizationPercentage }}
{{- if and $target (not (dig "requests" $resource "" ($.Values.resources | default dict))) }}
- autoscaling has a target for {{ $resource }}, but resources.requests.{{ $resource }} is not set: the target is a percentage of it.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "webhookd.problems.network" -}}
{{- with .Values.networkPolicy.ingress }}
{{- if .enabled }}
{{- if $.Values.hostNetwork }}
- networkPolicy.ingress and hostNetwork are both enabled: NetworkPolicies do not apply to pods in the host network.
{{- end }}
{{- if and (ne .flavor "cilium") (not .cidrs) (not .from) }}
- networkPolicy.ingress is enabled without networkPolicy.ingress.cidrs: kube-apiserver would be shut out. Only the flavor cilium finds its addresses by itself.
{{- end }}
{{- if and (eq .flavor "cilium") .cidrs }}
- networkPolicy.ingress.cidrs is set with the flavor cilium, which ignores it for kube-apiserver: remove it, or use networkPolicy.ingress.from.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "webhookd.problems.metrics" -}}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}
- metrics.serviceMonitor and metrics.podMonitor are both enabled: every sample would be scraped twice.
{{- end }}
{{- end -}}
