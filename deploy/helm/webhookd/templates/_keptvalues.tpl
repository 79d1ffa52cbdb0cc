{{- /* The CRDs whose kept values are guarded, as a JSON list: those that rules convert, and those that crdWiring.crds names. */ -}}
{{- define "webhookd.keptValues.crds" -}}
{{- concat (include "webhookd.files" . | fromJson).conversions (.Values.crdWiring.crds | default list) | uniq | sortAlpha | toJson -}}
{{- end -}}

{{- /*
The served versions of each of these CRDs that objects are not stored in: a JSON object, without CRDs that serve one version. A CRD
that is not in the values is read from the cluster; if it is not there either, it has null.
*/ -}}
{{- define "webhookd.keptValues.others" -}}
{{- $schemas := (include "webhookd.files" . | fromJson).schemas -}}
{{- $all := dict -}}
{{- range $name := include "webhookd.keptValues.crds" . | fromJsonArray -}}
  {{- $spec := get $schemas $name | default (dig "spec" dict (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name)) -}}
  {{- $served := list -}}
  {{- $others := list -}}
  {{- range dig "versions" list $spec -}}
    {{- if .served -}}
      {{- $served = append $served .name -}}
      {{- if not .storage -}}
        {{- $others = append $others .name -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if not $spec -}}
    {{- $_ := set $all $name nil -}}
  {{- else if gt (len $served) 1 -}}
    {{- $_ := set $all $name $others -}}
  {{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}
