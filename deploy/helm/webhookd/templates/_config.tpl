{{- /*
The configuration file: config, and the keys that follow from other values. Numbers are written as integers, since YAML
would print large ones as 1.34217728e+08.
*/ -}}
{{- define "webhookd.config" -}}
{{- $config := dict
  "listen" (printf ":%v" .Values.ports.webhook)
  "admin-listen" (printf ":%v" .Values.ports.admin)
  "path" .Values.path
  "tls-dir" "/etc/webhookd/tls" -}}
{{- if or .Values.rules .Values.rulesFrom -}}
{{- $_ := set $config "rules" "/etc/webhookd/rules" -}}
{{- $_ := set $config "crds" "/etc/webhookd/crds" -}}
{{- $_ := set $config "wait-for-rules" true -}}
{{- end -}}
{{- range $key, $value := .Values.config -}}
{{- if kindIs "float64" $value -}}
{{- $value = int64 $value -}}
{{- end -}}
{{- $_ := set $config $key $value -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- /* Changes when a restart is needed. The keys of the log need none. */ -}}
{{- define "webhookd.configChecksum" -}}
{{- omit (include "webhookd.config" . | fromYaml) "log-level" "log-reviews" | toYaml | sha256sum -}}
{{- end -}}
