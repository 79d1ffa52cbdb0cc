{{- /* The labels of a release that never change: selectors use them. */ -}}
{{- define "webhookd.releaseLabels" -}}
app.kubernetes.io/name: {{ include "webhookd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* Selects the pods of the server, not those of the Jobs. */ -}}
{{- define "webhookd.selectorLabels" -}}
{{ include "webhookd.releaseLabels" . }}
app.kubernetes.io/component: server
{{- end -}}

{{- /* Labels of an object of the chart. */ -}}
{{- define "webhookd.labels" -}}
{{- $own := include "webhookd.releaseLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" (.Chart.AppVersion | toString) -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") -}}
{{- toYaml (merge $own .Values.commonLabels) -}}
{{- end -}}

{{- /*
Labels of a pod, from a list of the root and the component. They do not include the chart's version, so an upgrade that changes
only that restarts nothing.
*/ -}}
{{- define "webhookd.podLabels" -}}
{{- $root := index . 0 -}}
{{- $own := include "webhookd.releaseLabels" $root | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/component" (index . 1) -}}
{{- toYaml (merge $own $root.Values.podLabels $root.Values.commonLabels) -}}
{{- end -}}
