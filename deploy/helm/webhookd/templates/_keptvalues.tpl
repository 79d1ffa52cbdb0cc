{{- /*
The CRDs with policies for kept values, as JSON: name to spec. They are the CRDs that rules convert, and those that crdWiring.crds
and keptValues.crds name. A CRD that is not in the values is read from the cluster; its spec is null if it is not there either.
*/ -}}
{{- define "webhookd.keptValues.specs" -}}
{{- $files := include "webhookd.files" . | fromJson -}}
{{- $given := $files.schemas -}}
{{- $names := concat $files.conversions (.Values.crdWiring.crds | default list) -}}
{{- range $file, $text := .Values.keptValues.crds -}}
  {{- range $document := regexSplit "(?m)^---(?:[ \\t].*)?$" $text -1 -}}
    {{- $object := include "webhookd.parse" (list (printf "keptValues.crds.%s" $file) $document) | fromYaml -}}
    {{- range concat (list $object) ($object.items | default list) -}}
      {{- if eq (toString .kind) "CustomResourceDefinition" -}}
        {{- $names = append $names (dig "metadata" "name" "" .) -}}
        {{- $_ := set $given (dig "metadata" "name" "" .) (.spec | default dict) -}}
      {{- else if include "webhookd.isXRD" . -}}
        {{- range $crd, $made := include "webhookd.xrdCRDs" . | fromJson -}}
          {{- $names = append $names $crd -}}
          {{- $_ := set $given $crd $made.spec -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $specs := dict -}}
{{- range $name := $names -}}
  {{- $spec := get $given $name | default (dig "spec" dict (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name)) -}}
  {{- $_ := set $specs $name (pick ($spec | default dict) "group" "names" "versions" | default nil) -}}
{{- end -}}
{{- toJson $specs -}}
{{- end -}}

{{- /* The kinds, in the form that the policies take, as a JSON list. */ -}}
{{- define "webhookd.keptValues.kinds" -}}
{{- $kinds := list -}}
{{- range $name, $spec := include "webhookd.keptValues.specs" . | fromJson -}}
  {{- $versions := list -}}
  {{- $status := list -}}
  {{- $served := list -}}
  {{- $others := list -}}
  {{- range dig "versions" list ($spec | default dict) -}}
    {{- $versions = append $versions .name -}}
    {{- if kindIs "map" (get (.subresources | default dict) "status") -}}
      {{- $status = append $status .name -}}
    {{- end -}}
    {{- if .served -}}
      {{- $served = append $served .name -}}
      {{- if not .storage -}}
        {{- $others = append $others .name -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $kinds = append $kinds (dict
      "group" (dig "group" "" ($spec | default dict)) "plural" (dig "names" "plural" "" ($spec | default dict))
      "versions" $versions "statusVersions" $status "others" (gt (len $served) 1 | ternary $others list)
      "mode" $.Values.keptValues.guard "allowGroup" $.Values.keptValues.allowGroup
      "labels" (include "webhookd.labels" $ | fromYaml)) -}}
{{- end -}}
{{- toJson $kinds -}}
{{- end -}}

{{- /* Names of the CRDs with a guard, and of those with a gate, as a JSON object. */ -}}
{{- define "webhookd.keptValues.guarded" -}}
{{- $guarded := list -}}
{{- $gated := list -}}
{{- range include "webhookd.keptValues.kinds" . | fromJsonArray -}}
  {{- $name := printf "%s.%s" .plural .group -}}
  {{- if and (ne $.Values.keptValues.guard "none") (gt (len .versions) 1) -}}
    {{- $guarded = append $guarded $name -}}
  {{- end -}}
  {{- if and $.Values.keptValues.gate .others -}}
    {{- $gated = append $gated $name -}}
  {{- end -}}
{{- end -}}
{{- dict "guarded" $guarded "gated" $gated | toJson -}}
{{- end -}}
