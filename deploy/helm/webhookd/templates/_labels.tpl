{{- /* What never changes of a release: selectors are made of it. */ -}}
{{- define "webhookd.releaseLabels" -}}
app.kubernetes.io/name: {{ include "webhookd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The pods that serve, and not those of the Jobs. */ -}}
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
Labels of a pod, from a list of the root and the component. They have no version, so that an upgrade that changes nothing
else does not restart anything.
*/ -}}
{{- define "webhookd.podLabels" -}}
{{- $root := index . 0 -}}
{{- $own := include "webhookd.releaseLabels" $root | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/component" (index . 1) -}}
{{- toYaml (merge $own $root.Values.podLabels $root.Values.commonLabels) -}}
{{- end -}}
