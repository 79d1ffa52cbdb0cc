{{- /*
The reviews of helm test by file name, as JSON: for each kind that rules convert, an empty object from the first version of its
CRD to the last, and another one back. helmTest.reviews adds more. If no kind is known here, one review has an object that is
already at the desired version, and so shows that webhookd answers.
*/ -}}
{{- define "webhookd.testReviews" -}}
{{- $files := include "webhookd.files" . | fromJson -}}
{{- $reviews := dict -}}
{{- range $name := $files.conversions -}}
{{- $spec := get $files.schemas $name | default dict -}}
{{- if gt (len ($spec.versions | default list)) 1 -}}
{{- $first := (first $spec.versions).name -}}
{{- $last := (last $spec.versions).name -}}
{{- $_ := set $reviews (printf "%s.up.json" $name) (include "webhookd.testReview" (list $spec $first $last) | fromJson) -}}
{{- $_ := set $reviews (printf "%s.down.json" $name) (include "webhookd.testReview" (list $spec $last $first) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- range $name, $text := .Values.helmTest.reviews -}}
{{- $_ := set $reviews (printf "%s.json" $name) (fromJson $text) -}}
{{- end -}}
{{- if not $reviews -}}
{{- $spec := dict "group" "test.webhookd.io" "names" (dict "kind" "HelmTest") "scope" "Cluster" -}}
{{- $_ := set $reviews "none.json" (include "webhookd.testReview" (list $spec "v1" "v1") | fromJson) -}}
{{- end -}}
{{- toJson $reviews -}}
{{- end -}}

{{- /* A review. Its arguments are a list: the spec of the CRD, and the versions from and to. */ -}}
{{- define "webhookd.testReview" -}}
{{- $spec := index . 0 -}}
{{- $metadata := dict "name" "helm-test" "uid" "00000000-0000-4000-8000-000000000000" -}}
{{- if eq (toString $spec.scope) "Namespaced" -}}
{{- $_ := set $metadata "namespace" "helm-test" -}}
{{- end -}}
{{- $object := dict "apiVersion" (printf "%s/%s" $spec.group (index . 1)) "kind" $spec.names.kind "metadata" $metadata -}}
{{- dict "apiVersion" "apiextensions.k8s.io/v1" "kind" "ConversionReview" "request" (dict
  "uid" "11111111-1111-4111-8111-111111111111"
  "desiredAPIVersion" (printf "%s/%s" $spec.group (index . 2))
  "objects" (list $object)) | toJson -}}
{{- end -}}
