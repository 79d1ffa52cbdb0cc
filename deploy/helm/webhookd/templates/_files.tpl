{{- /*
The values rules and crds as files, in JSON:

  rules        file name to text, without the CRDs in it
  crds         file name to text
  conversions  names of the CRDs that rules have a Conversion for
  schemas      name of a CRD to its spec, for the CRDs that are known here
  xrds         name of a CRD to that of the XRD of which Crossplane makes it, for the XRDs that are known here
  missing      those of conversions without a CRD
  lookedUp     those of conversions whose CRD was read from the cluster

A text without a CRD is not changed.
*/ -}}
{{- define "webhookd.files" -}}
{{- $files := dict "rules" dict "crds" dict "schemas" dict "xrds" dict -}}
{{- $conversions := list -}}
{{- range $name, $text := .Values.rules -}}
  {{- $rules := list -}}
  {{- $crds := list -}}
  {{- range $document := regexSplit "(?m)^---(?:[ \\t].*)?$" $text -1 -}}
    {{- $object := include "webhookd.parse" (list (printf "rules.%s" $name) $document) | fromYaml -}}
    {{- if or (eq (toString $object.kind) "CustomResourceDefinition") (include "webhookd.isXRD" $object) -}}
      {{- $crds = append $crds $document -}}
    {{- else -}}
      {{- $rules = append $rules $document -}}
      {{- if eq (toString $object.kind) "Conversion" -}}
        {{- $conversions = append $conversions (dig "metadata" "name" "" $object) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if $crds -}}
    {{- $_ := set $files.crds (printf "rules.%s" (include "webhookd.fileName" $name)) (join "---" $crds | trimPrefix "\n") -}}
  {{- end -}}
  {{- if join "" $rules | trim -}}
    {{- $_ := set $files.rules (include "webhookd.fileName" $name) (empty $crds | ternary $text (join "---" $rules | trimPrefix "\n")) -}}
  {{- end -}}
{{- end -}}
{{- range $name, $text := .Values.crds -}}
  {{- $_ := set $files.crds (include "webhookd.fileName" $name) $text -}}
{{- end -}}
{{- range $name, $text := $files.crds -}}
  {{- range $document := regexSplit "(?m)^---(?:[ \\t].*)?$" $text -1 -}}
    {{- $object := include "webhookd.parse" (list (printf "crds: %s" $name) $document) | fromYaml -}}
    {{- range concat (list $object) ($object.items | default list) -}}
      {{- if eq (toString .kind) "CustomResourceDefinition" -}}
        {{- $_ := set $files.schemas (dig "metadata" "name" "" .) (.spec | default dict) -}}
      {{- else if include "webhookd.isXRD" . -}}
        {{- range $crd, $made := include "webhookd.xrdCRDs" . | fromJson -}}
          {{- $_ := set $files.schemas $crd $made.spec -}}
          {{- $_ := set $files.xrds $crd $made.xrd -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $conversions = $conversions | uniq | sortAlpha -}}
{{- $missing := list -}}
{{- $lookedUp := list -}}
{{- if not .Values.crdsFrom -}}
  {{- range $name := $conversions -}}
    {{- if not (hasKey $files.schemas $name) -}}
      {{- $crd := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name -}}
      {{- if $crd -}}
        {{- $lookedUp = append $lookedUp $name -}}
        {{- $_ := set $files.schemas $name $crd.spec -}}
        {{- $bare := dict "apiVersion" $crd.apiVersion "kind" $crd.kind "metadata" (dict "name" $name) "spec" (omit $crd.spec "conversion") -}}
        {{- $_ := set $files.crds (printf "cluster.%s.yaml" $name) (toYaml $bare) -}}
      {{- else -}}
        {{- $missing = append $missing $name -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $_ := set $files "conversions" $conversions -}}
{{- $_ := set $files "missing" $missing -}}
{{- $_ := set $files "lookedUp" $lookedUp -}}
{{- toJson $files -}}
{{- end -}}

{{- /* The server reads .yaml, .yml and .json. */ -}}
{{- define "webhookd.fileName" -}}
{{- regexMatch "[.](yaml|yml|json)$" . | ternary . (printf "%s.yaml" .) -}}
{{- end -}}

{{- /* Parses one document of a file. Its arguments are a list: the name of the file for errors, and the document. */ -}}
{{- define "webhookd.parse" -}}
{{- $object := index . 1 | fromYaml -}}
{{- if and (hasKey $object "Error") (not (hasKey $object "kind")) -}}
{{- fail (printf "%s: not YAML of an object, give the text of a file with --set-file: %s" (index . 0) $object.Error) -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}

{{- /* The CRDs to wire, as a JSON list: those in crdWiring.crds, or else those that rules convert. */ -}}
{{- define "webhookd.wiredCRDs" -}}
{{- default (include "webhookd.files" . | fromJson).conversions .Values.crdWiring.crds | toJson -}}
{{- end -}}

{{- /*
Names of the CRDs that the rules in the cluster convert and these values do not, although the CRD points at the Service and has more
than one version. (managedFields may name a version that is neither served nor stored.) With rulesFrom the rules are not known
here, and CRDs in crdWiring.crds may have a converter in Go.
*/ -}}
{{- define "webhookd.neededRules" -}}
{{- $needed := list -}}
{{- if not .Values.rulesFrom -}}
  {{- $conversions := (include "webhookd.files" . | fromJson).conversions -}}
  {{- $before := lookup "v1" "ConfigMap" (include "webhookd.namespace" .) (printf "%s-rules" (include "webhookd.fullname" .)) -}}
  {{- range $text := dig "data" dict $before -}}
    {{- range $document := regexSplit "(?m)^---(?:[ \\t].*)?$" $text -1 -}}
      {{- $object := $document | fromYaml -}}
      {{- $name := dig "metadata" "name" "" $object -}}
      {{- if and (eq (toString $object.kind) "Conversion") (not (has $name (concat $conversions ($.Values.crdWiring.crds | default list)))) -}}
        {{- $crd := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name -}}
        {{- $service := dig "spec" "conversion" "webhook" "clientConfig" "service" dict $crd -}}
        {{- if and (eq (printf "%s/%s" $service.namespace $service.name) (include "webhookd.service" $)) (gt (len (dig "spec" "versions" list $crd)) 1) -}}
          {{- $needed = append $needed $name -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson (uniq $needed) -}}
{{- end -}}
