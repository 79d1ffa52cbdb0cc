{{- /* The environment: limits of the Go runtime, unless extraEnv sets them. */ -}}
{{- define "webhookd.env" -}}
{{- $given := list -}}
{{- range .Values.extraEnv -}}
{{- $given = append $given .name -}}
{{- end -}}
{{- $memory := include "webhookd.goMemoryLimit" . -}}
{{- if and $memory (not (has "GOMEMLIMIT" $given)) }}
# The memory limit less 38Mi; at least 10 % and at most 25 % of the limit are left out.
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

{{- /* A volume with the files of several ConfigMaps, from a dict of root, name and from. */ -}}
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
# Only the pair: these pods must not see other keys of the Secret, such as the key of a CA. The pod waits until the Secret has
# the pair.
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
  # Spreads each rollout by itself.
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels: {{- include "webhookd.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end -}}
{{- end -}}
