{{- /* The environment: what the Go runtime should know of the limits, unless extraEnv says it. */ -}}
{{- define "webhookd.env" -}}
{{- $given := list -}}
{{- range .Values.extraEnv -}}
{{- $given = append $given .name -}}
{{- end -}}
{{- $memory := include "webhookd.goMemoryLimit" . -}}
{{- if and $memory (not (has "GOMEMLIMIT" $given)) }}
# What the limit leaves beside 38Mi, or beside 10 to 25 % of it where 38Mi are less or more than that.
- {name: GOMEMLIMIT, value: {{ $memory | quote }}}
{{- end }}
{{- if and (dig "limits" "cpu" "" (.Values.resources | default dict)) (not (has "GOMAXPROCS" $given)) }}
- name: GOMAXPROCS
  valueFrom:
    resourceFieldRef: {resource: limits.cpu}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* A volume of files out of several ConfigMaps, from a dict of root, name and from. */ -}}
{{- define "webhookd.filesVolume" -}}
{{- $files := include "webhookd.files" .root | fromJson -}}
name: {{ .name }}
projected:
  sources:
    {{- if index $files .name }}
    - configMap: {name: {{ include "webhookd.fullname" .root }}-{{ .name }}}
    {{- end }}
    {{- range .from }}
    - configMap: {{- toYaml . | nindent 8 }}
    {{- end }}
{{- end -}}

{{- define "webhookd.volumes" -}}
- name: config
  configMap: {name: {{ include "webhookd.fullname" . }}}
# The pair only: what else is in the Secret, such as the key of a CA, is not for these pods. While the Secret has no pair,
# the pod waits for it.
- name: tls
  secret:
    secretName: {{ include "webhookd.tls.secretName" . }}
    items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]
{{- if or .Values.rules .Values.rulesFrom }}
- {{ include "webhookd.filesVolume" (dict "root" . "name" "rules" "from" .Values.rulesFrom) | nindent 2 | trim }}
- {{ include "webhookd.filesVolume" (dict "root" . "name" "crds" "from" .Values.crdsFrom) | nindent 2 | trim }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "webhookd.topologySpread" -}}
{{- if .Values.topologySpreadConstraints -}}
{{- toYaml .Values.topologySpreadConstraints -}}
{{- else -}}
{{- range .Values.topologySpread.topologyKeys }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: {{ $.Values.topologySpread.whenUnsatisfiable }}
  # Each rollout is spread by itself.
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels: {{- include "webhookd.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end -}}
{{- end -}}
