{{- /* Sets the job label, the same for both monitors. */ -}}
{{- define "webhookd.metricsJob" -}}
- {targetLabel: job, replacement: {{ include "webhookd.fullname" . }}, action: replace}
{{- end -}}

{{- /* The selector of the series of this release. */ -}}
{{- define "webhookd.metricsSelector" -}}
{{- default (printf "namespace=%q, job=%q" (include "webhookd.namespace" .) (include "webhookd.fullname" .)) .Values.metrics.prometheusRule.selector -}}
{{- end -}}

{{- /* The selector of the CRDs of this release in the metrics of kube-apiserver, to follow other matchers. */ -}}
{{- define "webhookd.crdSelector" -}}
{{- with include "webhookd.wiredCRDs" . | fromJsonArray -}}
{{- printf ", crd_name=~%q" (join "|" .) -}}
{{- end -}}
{{- end -}}

{{- define "webhookd.alerts" -}}
{{- $text := .Files.Get "alerts/webhookd.yaml" -}}
{{- $text = $text | replace "$(own)" (include "webhookd.metricsSelector" .) -}}
{{- $text = $text | replace "$(crds)" (include "webhookd.crdSelector" .) -}}
{{- $text = $text | replace "$(replicas)" (toString .Values.metrics.prometheusRule.replicas) -}}
{{- $alerts := list -}}
{{- range $text | fromYamlArray -}}
{{- if not (has .alert $.Values.metrics.prometheusRule.disabled) -}}
{{- $_ := set .annotations "runbook_url" (printf "%s#%s" $.Values.metrics.prometheusRule.runbookURL (lower .alert)) -}}
{{- $alerts = append $alerts . -}}
{{- end -}}
{{- end -}}
{{- concat $alerts .Values.metrics.prometheusRule.additionalRules | toYaml -}}
{{- end -}}
