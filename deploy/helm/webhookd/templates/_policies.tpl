{{- /*
The admission policies of a kind. webhookd crd guard prints the same from internal/cluster/crdguard/policies; the tests there compare both.
It uses no function that text/template lacks, except toJson.

A kind is a dict of

  group, plural
  versions        all versions of the CRD
  statusVersions  those with the subresource status
  others          the served versions that objects are not stored in
  mode            validate or restore
  allowGroup      the group of users whom the guard lets pass, or empty
  labels          those of the policies, or nil
*/ -}}

{{- /* The guard of annotations and labels: a policy and its binding. */ -}}
{{- define "webhookd.guard.annotations" -}}
{{- $kind := "ValidatingAdmissionPolicy" -}}
{{- if eq .mode "restore" -}}{{- $kind = "MutatingAdmissionPolicy" -}}{{- end -}}
{{- $name := printf "webhookd-kept-values.%s.%s" .plural .group -}}
{{- if eq .mode "restore" -}}
# Puts back what a request changes of the annotations and labels in which webhookd keeps values, and takes away what it adds.
{{- else -}}
# Refuses a request that changes or adds annotations or labels in which webhookd keeps values.
{{- end }}
apiVersion: admissionregistration.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $name }}
  {{- with .labels }}
  labels: {{ toJson . }}
  {{- end }}
spec:
  failurePolicy: Fail
  {{- if eq .mode "restore" }}
  reinvocationPolicy: IfNeeded
  {{- end }}
  matchConstraints:
    # Each request as it is: nothing is converted for this policy.
    matchPolicy: Exact
    resourceRules:
      - apiGroups: [{{ toJson .group }}]
        apiVersions: ["*"]
        resources: [{{ toJson .plural }}]
        operations: [{{ if .statusVersions }}CREATE, {{ end }}UPDATE]
  {{- with .allowGroup }}
  matchConditions:
    - name: outside-of-the-allowed-group
      expression: {{ printf "!(%s in request.userInfo.?groups.orValue([]))" (toJson .) | toJson }}
  {{- end }}
  variables:
    # Keys are VERSION.PATH. Those of a version that the CRD does not have any more may go.
    - name: prefixes
      expression: >-
        {{- if .statusVersions }}
        request.operation == "CREATE"
        ? [{{ range $i, $version := .statusVersions }}{{ if $i }}, {{ end }}"status.conversion.webhookd.io/{{ $version }}."{{ end }}]
        : [{{ template "webhookd.guard.prefixes" . }}]
        {{- else }}
        [{{ template "webhookd.guard.prefixes" . }}]
        {{- end }}
    {{- template "webhookd.guard.variables" "annotations" }}
    {{- template "webhookd.guard.variables" "labels" }}
  {{- if eq .mode "restore" }}
  mutations:
    # Where no annotation is left, the map goes too: an empty one would make a write of a request that changes nothing.
    {{- template "webhookd.guard.mutation" "annotations" }}
    {{- template "webhookd.guard.mutation" "labels" }}
  {{- else }}
  validations:
    {{- template "webhookd.guard.validations" "annotations" }}
    {{- template "webhookd.guard.validations" "labels" }}
  {{- end }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- with .labels }}
  labels: {{ toJson . }}
  {{- end }}
spec:
  policyName: {{ $name }}
  {{- if ne .mode "restore" }}
  validationActions: [Deny]
  {{- end }}
{{ end -}}

{{- define "webhookd.guard.prefixes" -}}
{{- range $i, $version := .versions }}{{ if $i }}, {{ end -}}
"conversion.webhookd.io/{{ $version }}.", "status.conversion.webhookd.io/{{ $version }}."
{{- end }}
{{- end -}}

{{- /* What a request adds, and what it changes or leaves out; of annotations or of labels. */ -}}
{{- define "webhookd.guard.variables" }}
    - name: {{ . }}
      expression: object.metadata.?{{ . }}.orValue({})
    - name: {{ . }}Before
      expression: 'request.operation == "CREATE" ? {} : oldObject.metadata.?{{ . }}.orValue({})'
    - name: {{ . }}Added
      expression: >-
        variables.{{ . }}.filter(k, !(k in variables.{{ . }}Before)
        && variables.prefixes.exists(p, k.startsWith(p)))
    - name: {{ . }}Changed
      expression: >-
        variables.{{ . }}Before.filter(k, !(k in variables.{{ . }} && variables.{{ . }}[k] == variables.{{ . }}Before[k])
        && variables.prefixes.exists(p, k.startsWith(p)))
{{- end -}}

{{- define "webhookd.guard.mutation" }}
    - patchType: JSONPatch
      jsonPatch:
        expression: >-
          size(variables.{{ . }}Added) > 0 && size(variables.{{ . }}Added) == size(variables.{{ . }}) && size(variables.{{ . }}Changed) == 0
          ? [JSONPatch{op: "remove", path: "/metadata/{{ . }}"}]
          : (has(object.metadata.{{ . }}) || size(variables.{{ . }}Changed) == 0 ? [] : [JSONPatch{op: "add", path: "/metadata/{{ . }}", value: {}}])
          + variables.{{ . }}Added.map(k, JSONPatch{op: "remove", path: "/metadata/{{ . }}/" + jsonpatch.escapeKey(k)})
          + variables.{{ . }}Changed.map(k, JSONPatch{op: "add", path: "/metadata/{{ . }}/" + jsonpatch.escapeKey(k), value: variables.{{ . }}Before[k]})
{{- end -}}

{{- define "webhookd.guard.validations" }}
    - expression: size(variables.{{ . }}Changed) == 0
      messageExpression: >-
        "only webhookd changes these {{ . }}, take them out of the manifest and use kubectl apply, which leaves them as they are: "
        + (size(variables.{{ . }}Changed) <= 10 ? variables.{{ . }}Changed.join(", ")
        : variables.{{ . }}Changed[0] + " and " + string(size(variables.{{ . }}Changed) - 1) + " more")
    - expression: size(variables.{{ . }}Added) == 0
      messageExpression: >-
        "only webhookd adds these {{ . }}, take them out of the manifest, as webhookd convert --strip does: "
        + (size(variables.{{ . }}Added) <= 10 ? variables.{{ . }}Added.join(", ")
        : variables.{{ . }}Added[0] + " and " + string(size(variables.{{ . }}Added) - 1) + " more")
{{- end -}}

{{- /* The gate: a policy with its binding for each version that objects are not stored in. */ -}}
{{- define "webhookd.guard.convertible" -}}
{{- range $i, $version := .others -}}
{{- $name := printf "webhookd-convertible-%s.%s.%s" $version $.plural $.group -}}
{{- if $i -}}
---
{{ end -}}
# Refuses an object that cannot be converted to {{ $version }}: to ask this policy, the API server converts what is written.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}
  {{- with $.labels }}
  labels: {{ toJson . }}
  {{- end }}
spec:
  failurePolicy: Fail
  matchConstraints:
    # A request at any version, converted to this one. A policy is asked at one version, so each version has its own.
    matchPolicy: Equivalent
    resourceRules:
      - apiGroups: [{{ toJson $.group }}]
        apiVersions: [{{ toJson $version }}]
        resources: [{{ toJson $.plural }}, {{ printf "%s/status" $.plural | toJson }}]
        operations: [CREATE, UPDATE]
  validations:
    - expression: "true"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  {{- with $.labels }}
  labels: {{ toJson . }}
  {{- end }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
{{ end -}}
{{- end -}}
