{{- /*
The admission policies of a kind. webhookd crd guard prints the same from internal/cluster/crdguard/policies; the tests there compare both.
It uses no function that text/template lacks, except toJson.

A kind is a dict of

  group, plural
  mode        of the guard: validate or restore
  allowGroup  the group of users whom the guard lets pass, or empty
  others      of the gate: the served versions that objects are not stored in
  labels      those of the policies, or nil
*/ -}}

{{- /* The guard of annotations: a policy and its binding. */ -}}
{{- define "webhookd.guard.annotations" -}}
{{- $kind := "ValidatingAdmissionPolicy" -}}
{{- if eq .mode "restore" -}}{{- $kind = "MutatingAdmissionPolicy" -}}{{- end -}}
{{- $name := printf "webhookd-kept-values.%s.%s" .plural .group -}}
{{- if eq .mode "restore" -}}
# Puts back what a request changes of the annotations in which webhookd keeps values, and takes away what it adds.
{{- else -}}
# Refuses a request that changes, adds or removes annotations in which webhookd keeps values.
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
        operations: [CREATE, UPDATE]
  {{- with .allowGroup }}
  matchConditions:
    - name: outside-of-the-allowed-group
      expression: {{ printf "!(%s in request.userInfo.?groups.orValue([]))" (toJson .) | toJson }}
  {{- end }}
  variables:
    # A new object may have kept values of its spec, which its author could also have written at the other version.
    - name: prefixes
      expression: '["status.conversion.webhookd.io/"] + (request.operation == "CREATE" ? [] : ["conversion.webhookd.io/"])'
    - name: before
      expression: 'request.operation == "CREATE" ? {} : oldObject.metadata.?annotations.orValue({})'
    - name: after
      expression: object.metadata.?annotations.orValue({})
    - name: added
      expression: variables.after.filter(k, !(k in variables.before) && variables.prefixes.exists(p, k.startsWith(p)))
    - name: changed
      expression: >-
        variables.before.filter(k, !(k in variables.after && variables.after[k] == variables.before[k])
        && variables.prefixes.exists(p, k.startsWith(p)))
  {{- if eq .mode "restore" }}
  mutations:
    # Where no annotation is left, the map goes too: an empty one would make a write of a request that changes nothing.
    - patchType: JSONPatch
      jsonPatch:
        expression: >-
          size(variables.added) > 0 && size(variables.added) == size(variables.after) && size(variables.changed) == 0
          ? [JSONPatch{op: "remove", path: "/metadata/annotations"}]
          : (has(object.metadata.annotations) || size(variables.changed) == 0 ? [] : [JSONPatch{op: "add", path: "/metadata/annotations", value: {}}])
          + variables.added.map(k, JSONPatch{op: "remove", path: "/metadata/annotations/" + jsonpatch.escapeKey(k)})
          + variables.changed.map(k, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey(k), value: variables.before[k]})
  {{- else }}
  validations:
    - expression: size(variables.changed) == 0
      messageExpression: >-
        "only webhookd changes these annotations, take them out of the manifest and use kubectl apply, which leaves them as they are: "
        + (size(variables.changed) <= 10 ? variables.changed.join(", ")
        : variables.changed[0] + " and " + string(size(variables.changed) - 1) + " more")
    - expression: size(variables.added) == 0
      messageExpression: >-
        "only webhookd adds these annotations, take them out of the manifest, as webhookd convert --strip does: "
        + (size(variables.added) <= 10 ? variables.added.join(", ")
        : variables.added[0] + " and " + string(size(variables.added) - 1) + " more")
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
