{{- /*
Names are cut so that the longest suffix still fits into the 52 characters of a CronJob's name.
*/ -}}

{{- define "webhookd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "webhookd.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "webhookd.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "webhookd.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "webhookd.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- /* The Service as clientConfig and the command line name it. */ -}}
{{- define "webhookd.service" -}}
{{- printf "%s/%s" (include "webhookd.namespace" .) (include "webhookd.fullname" .) -}}
{{- end -}}

{{- /* The host that kube-apiserver calls; the certificate must be valid for it. */ -}}
{{- define "webhookd.host" -}}
{{- printf "%s.%s.svc" (include "webhookd.fullname" .) (include "webhookd.namespace" .) -}}
{{- end -}}

{{- define "webhookd.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "webhookd.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "webhookd.image" -}}
{{- with .Values.image -}}
{{- $name := .repository -}}
{{- with default .registry ($.Values.global).imageRegistry -}}{{- $name = printf "%s/%s" . $.Values.image.repository -}}{{- end -}}
{{- if .digest -}}
{{- printf "%s@%s" $name .digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "webhookd.imagePullSecrets" -}}
{{- with concat (($.Values.global).imagePullSecrets | default list) (.Values.imagePullSecrets | default list) | uniq -}}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}
