{{- /* The CRDs that Crossplane makes of an XRD: a JSON object of name to {xrd, spec}, with what this chart needs of a spec. */ -}}
{{- define "webhookd.xrdCRDs" -}}
{{- $xrd := dig "metadata" "name" "" . -}}
{{- $spec := .spec | default dict -}}
{{- $versions := list -}}
{{- range $spec.versions -}}
  {{- $versions = append $versions (dict "name" .name "served" .served "storage" .referenceable "subresources" (dict "status" dict)) -}}
{{- end -}}
{{- $crds := dict $xrd (dict "xrd" $xrd "spec" (dict "group" $spec.group "names" $spec.names "versions" $versions)) -}}
{{- with $spec.claimNames -}}
  {{- $_ := set $crds (printf "%s.%s" .plural $spec.group) (dict "xrd" $xrd "spec" (dict "group" $spec.group "names" . "versions" $versions)) -}}
{{- end -}}
{{- toJson $crds -}}
{{- end -}}

{{- define "webhookd.isXRD" -}}
{{- if and (eq (toString .kind) "CompositeResourceDefinition") (hasPrefix "apiextensions.crossplane.io/" (toString .apiVersion)) }}true{{ end -}}
{{- end -}}

{{- /* The XRDs of the CRDs to wire: a JSON object of the name of a CRD to that of the XRD of which Crossplane makes it. */ -}}
{{- define "webhookd.xrds" -}}
{{- $known := merge (deepCopy .Values.crossplane.definitions) (include "webhookd.files" . | fromJson).xrds -}}
{{- $xrds := dict -}}
{{- range $name := include "webhookd.wiredCRDs" . | fromJsonArray -}}
  {{- $xrd := get $known $name -}}
  {{- if not $xrd -}}
    {{- range dig "metadata" "ownerReferences" list (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name) -}}
      {{- if and (include "webhookd.isXRD" .) .controller -}}
        {{- $xrd = .name -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if $xrd -}}
    {{- $_ := set $xrds $name $xrd -}}
  {{- end -}}
{{- end -}}
{{- toJson $xrds -}}
{{- end -}}

{{- /* The rule of a ClusterRole that may change these XRDs, or nothing. */ -}}
{{- define "webhookd.xrdRule" -}}
{{- with include "webhookd.xrds" . | fromJson | values -}}
- apiGroups: [apiextensions.crossplane.io]
  resources: [compositeresourcedefinitions]
  resourceNames: {{- . | uniq | sortAlpha | toYaml | nindent 4 }}
  verbs: [get, patch]
{{- end -}}
{{- end -}}

{{- define "webhookd.problems.conversionGuard" -}}
{{- with .Values.conversionGuard }}
{{- if and (ne .mode "none") (not (include "webhookd.wiredCRDs" $ | fromJsonArray)) }}
- conversionGuard.mode is {{ .mode }}, but the values name no CRD: name CRDs in crdWiring.crds.
{{- end }}
{{- if and .allowGroup (eq .mode "none") }}
- conversionGuard.allowGroup is set, but conversionGuard.mode is none, so anyone who may change CRDs may change spec.conversion: set conversionGuard.mode, or remove the group.
{{- end }}
{{- end }}
{{- end -}}
