{{- define "webhookd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "webhookd.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "webhookd.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "webhookd.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "webhookd.selectorLabels" -}}
app.kubernetes.io/name: {{ include "webhookd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "webhookd.labels" -}}
{{ include "webhookd.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "webhookd.tlsSecret" -}}
{{- if and .Values.tls.existingSecret .Values.tls.certManager.enabled -}}
{{- fail "set one of tls.existingSecret and tls.certManager.enabled, not both" -}}
{{- else if .Values.tls.certManager.enabled -}}
{{- if not .Values.tls.certManager.issuerRef.name -}}
{{- fail "tls.certManager.issuerRef.name is not set: name the issuer of the certificate" -}}
{{- end -}}
{{- printf "%s-tls" (include "webhookd.fullname" .) -}}
{{- else -}}
{{- required "no certificate: set tls.existingSecret, or tls.certManager.enabled with an issuerRef" .Values.tls.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "webhookd.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}
