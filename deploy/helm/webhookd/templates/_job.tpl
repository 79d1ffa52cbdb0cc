{{- /*
The spec of a Job that runs webhookd, from a dict of

  root, component, args
  backoffLimit        in place of that of jobs
  serviceAccountName  with a token; without one the pod gets none
  ca                  mount the CA at /etc/webhookd/ca/ca.crt
  configMap           mount this ConfigMap at /etc/webhookd/files
*/ -}}
{{- define "webhookd.jobSpec" -}}
{{- $jobs := .root.Values.jobs -}}
backoffLimit: {{ hasKey . "backoffLimit" | ternary .backoffLimit $jobs.backoffLimit }}
activeDeadlineSeconds: {{ $jobs.activeDeadlineSeconds }}
template:
  metadata:
    labels: {{- include "webhookd.podLabels" (list .root .component) | nindent 6 }}
    {{- with $jobs.podAnnotations }}
    annotations: {{- toYaml . | nindent 6 }}
    {{- end }}
  spec:
    # A failed pod stays, so that its log can be read.
    restartPolicy: Never
    {{- if .serviceAccountName }}
    serviceAccountName: {{ .serviceAccountName }}
    automountServiceAccountToken: true
    {{- else }}
    automountServiceAccountToken: false
    {{- end }}
    enableServiceLinks: false
    {{- with include "webhookd.imagePullSecrets" .root }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with .root.Values.podSecurityContext }}
    securityContext: {{- toYaml . | nindent 6 }}
    {{- end }}
    containers:
      - name: webhookd
        image: {{ include "webhookd.image" .root | quote }}
        imagePullPolicy: {{ .root.Values.image.pullPolicy }}
        args: {{- toYaml .args | nindent 10 }}
        terminationMessagePolicy: FallbackToLogsOnError
        {{- with $jobs.resources }}
        resources: {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- with .root.Values.securityContext }}
        securityContext: {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- if or .ca .configMap }}
        volumeMounts:
          {{- if .ca }}
          - {name: ca, mountPath: /etc/webhookd/ca, readOnly: true}
          {{- end }}
          {{- if .configMap }}
          - {name: files, mountPath: /etc/webhookd/files, readOnly: true}
          {{- end }}
        {{- end }}
    {{- if or .ca .configMap }}
    volumes:
      {{- if .ca }}
      - {{ include "webhookd.tls.caVolume" .root | nindent 8 | trim }}
      {{- end }}
      {{- if .configMap }}
      - name: files
        configMap: {name: {{ .configMap }}}
      {{- end }}
    {{- end }}
    {{- with .root.Values.nodeSelector }}
    nodeSelector: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .root.Values.tolerations }}
    tolerations: {{- toYaml . | nindent 6 }}
    {{- end }}
{{- end -}}

{{- /* --crd NAME for each CRD of the wiring, as a YAML list. */ -}}
{{- define "webhookd.crdArgs" -}}
{{- range include "webhookd.wiredCRDs" . | fromJsonArray }}
- --crd={{ . }}
{{- end }}
{{- end -}}

{{- /* Port and path of the Service, if they differ from webhookd's defaults. */ -}}
{{- define "webhookd.endpointArgs" -}}
{{- if ne (int .Values.service.port) 443 }}
- --port={{ .Values.service.port }}
{{- end }}
{{- if ne .Values.path "/crdconvert" }}
- --path={{ .Values.path }}
{{- end }}
{{- end -}}

{{- /* Annotations of the objects that the hooks of the wiring need. */ -}}
{{- define "webhookd.wiringHook" -}}
helm.sh/hook: post-install,post-upgrade,post-rollback,pre-delete
helm.sh/hook-weight: "-5"
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
