{{- /* spec.conversion of a CRD, with the CA if it is known and cert-manager does not fill it in. */ -}}
{{- define "webhookd.conversion" -}}
{{- $ca := include "webhookd.tls.caBundle" . -}}
strategy: Webhook
webhook:
  conversionReviewVersions: [v1]
  clientConfig:
    service:
      namespace: {{ include "webhookd.namespace" . }}
      name: {{ include "webhookd.fullname" . }}
      port: {{ .Values.service.port }}
      path: {{ .Values.path }}
    {{- if ne .Values.crdWiring.mode "annotate" }}
    caBundle: {{ empty $ca | ternary "# base64 of the CA, see below" (b64enc $ca) }}
    {{- end }}
{{- end -}}

{{- /* The annotation that makes cert-manager fill in caBundle. */ -}}
{{- define "webhookd.injectAnnotation" -}}
{{- if eq .Values.tls.mode "certManager" -}}
cert-manager.io/inject-ca-from: {{ include "webhookd.service" . }}
{{- else -}}
cert-manager.io/inject-ca-from-secret: {{ include "webhookd.namespace" . }}/{{ .Values.tls.existingSecret }}
{{- end -}}
{{- end -}}
