{{- /* The Secret with the served pair. Each mode has its own Secret, so that a change of the mode never mixes two. */ -}}
{{- define "webhookd.tls.secretName" -}}
{{- if eq .Values.tls.mode "existingSecret" -}}
{{- .Values.tls.existingSecret -}}
{{- else if eq .Values.tls.mode "certManager" -}}
{{- printf "%s-cert" (include "webhookd.fullname" .) -}}
{{- else if eq .Values.tls.mode "selfManaged" -}}
{{- printf "%s-self-managed" (include "webhookd.fullname" .) -}}
{{- else -}}
{{- printf "%s-tls" (include "webhookd.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- /*
The Secret with the CA and its key, in the modes that have one. No two modes share it: Helm does not adopt a Secret that cert-manager
created, and if it deleted its own it would delete cert-manager's content with it.
*/ -}}
{{- define "webhookd.tls.authorityName" -}}
{{- printf "%s-ca" (eq .Values.tls.mode "certManager" | ternary (include "webhookd.tls.secretName" .) (include "webhookd.fullname" .)) -}}
{{- end -}}

{{- /*
Mode helm. Keeps what is in the cluster: the CA until it expires, the leaf until two thirds of its life are over. A leaf never
outlives the CA. Without a cluster, as in helm template, both are new. All templates of one rendering must have the same pair,
so it is put into the values: tls.generated has ca and caKey, cert and key in PEM, renewAfter and caEnd in Unix time, and
offline. caEnd is 0 if it is unknown.
*/ -}}
{{- define "webhookd.tls.generate" -}}
{{- if not (hasKey .Values.tls "generated") -}}
{{- $host := include "webhookd.host" . -}}
{{- $kept := lookup "v1" "Secret" (include "webhookd.namespace" .) (include "webhookd.tls.secretName" .) -}}
{{- $authority := lookup "v1" "Secret" (include "webhookd.namespace" .) (include "webhookd.tls.authorityName" .) -}}
{{- $caCert := dig "data" "tls.crt" "" $authority -}}
{{- $caKey := dig "data" "tls.key" "" $authority -}}
{{- $caEnd := get (dig "metadata" "annotations" dict $authority) "webhookd.io/not-after" | default "0" | int64 -}}
{{- $annotations := dig "metadata" "annotations" dict $kept -}}
{{- $now := now | unixEpoch | int64 -}}
{{- $renewAfter := get $annotations "webhookd.io/renew-after" | default "0" | int64 -}}
{{- if and $caEnd (lt (sub $caEnd $now) 86400) -}}
  {{- /* No leaf of this CA would be valid for a day, so a new CA loses nothing. */ -}}
  {{- $caCert = "" -}}
{{- end -}}
{{- $generated := dict "offline" false -}}
{{- if and $caCert $caKey (eq (dig "data" "ca.crt" "" $kept) $caCert) (dig "data" "tls.crt" "" $kept) (dig "data" "tls.key" "" $kept)
    (eq (get $annotations "webhookd.io/host") $host) (lt $now $renewAfter) -}}
  {{- $_ := set $generated "ca" (b64dec $caCert) -}}
  {{- $_ := set $generated "caKey" (b64dec $caKey) -}}
  {{- $_ := set $generated "cert" (get $kept.data "tls.crt" | b64dec) -}}
  {{- $_ := set $generated "key" (get $kept.data "tls.key" | b64dec) -}}
{{- else -}}
  {{- /* An API server answers with a list, even if it is empty. Helm itself must be able to list Secrets. */ -}}
  {{- $_ := set $generated "offline" (empty (lookup "v1" "Secret" (include "webhookd.namespace" .) "")) -}}
  {{- $life := .Values.tls.helm.leafValidityDays | int64 -}}
  {{- $ca := dict -}}
  {{- if and $caCert $caKey -}}
    {{- $ca = buildCustomCert $caCert $caKey -}}
  {{- else -}}
    {{- $ca = genCAWithKey (printf "%s CA" $host) (int .Values.tls.helm.caValidityDays) (genPrivateKey "ecdsa") -}}
    {{- $caEnd = add $now (mul (.Values.tls.helm.caValidityDays | int64) 86400) -}}
  {{- end -}}
  {{- if $caEnd -}}
    {{- $life = min $life (div (sub $caEnd $now) 86400) -}}
  {{- end -}}
  {{- $leaf := genSignedCertWithKey $host nil (list $host) (int $life) $ca (genPrivateKey "ecdsa") -}}
  {{- $_ := set $generated "ca" $ca.Cert -}}
  {{- $_ := set $generated "caKey" $ca.Key -}}
  {{- $_ := set $generated "cert" $leaf.Cert -}}
  {{- $_ := set $generated "key" $leaf.Key -}}
  {{- $renewAfter = add $now (mul $life 57600) -}}
{{- end -}}
{{- $_ := set $generated "renewAfter" $renewAfter -}}
{{- $_ := set $generated "caEnd" $caEnd -}}
{{- $_ := set .Values.tls "generated" $generated -}}
{{- end -}}
{{- end -}}

{{- /* The CA in PEM if it is known here, else nothing. */ -}}
{{- define "webhookd.tls.caBundle" -}}
{{- if .Values.tls.caBundle -}}
{{- .Values.tls.caBundle -}}
{{- else if eq .Values.tls.mode "helm" -}}
{{- include "webhookd.tls.generate" . -}}
{{- .Values.tls.generated.ca -}}
{{- else if include "webhookd.tls.secretName" . -}}
{{- $secret := lookup "v1" "Secret" (include "webhookd.namespace" .) (include "webhookd.tls.secretName" .) -}}
{{- dig "data" "ca.crt" "" $secret | b64dec -}}
{{- end -}}
{{- end -}}

{{- /* The volume ca of a Job, with the file ca.crt. */ -}}
{{- define "webhookd.tls.caVolume" -}}
name: ca
{{- if .Values.tls.caBundle }}
configMap: {name: {{ include "webhookd.tls.authorityName" . }}}
{{- else }}
# The Job waits until the Secret has its CA.
secret:
  secretName: {{ include "webhookd.tls.secretName" . }}
  items: [{key: ca.crt, path: ca.crt}]
{{- end }}
{{- end -}}
