{{- /*
The guard of spec.conversion of a CRD: a policy and its binding. webhookd crd guard conversion prints the same from
internal/cluster/crdguard/policies; the tests there compare both. It uses no function that text/template lacks, except toJson.

A CRD is a dict of group, plural, xrd (the name of the XRD of which Crossplane makes it, or empty), mode (validate or restore),
allowGroup (the group of users whom the guard lets pass, or empty), webhook (the address that spec.conversion may be pointed at, as
NAMESPACE/NAME:PORT/PATH, or empty) and labels (those of the policies, or nil).
*/ -}}

{{- define "webhookd.guard.conversion" -}}
{{- $kind := "ValidatingAdmissionPolicy" -}}
{{- if eq .mode "restore" -}}{{- $kind = "MutatingAdmissionPolicy" -}}{{- end -}}
{{- $name := printf "webhookd-conversion.%s.%s" .plural .group -}}
{{- if eq .mode "restore" -}}
# Puts spec.conversion back if an update drops or damages it while more than one version is in use.
{{- else -}}
# Refuses an update that drops or damages spec.conversion while more than one version is in use.
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
    matchPolicy: Exact
    resourceRules:
      - apiGroups: [apiextensions.k8s.io]
        apiVersions: ["*"]
        resources: [customresourcedefinitions]
        resourceNames: [{{ printf "%s.%s" .plural .group | toJson }}]
        operations: [UPDATE]
      {{- with .xrd }}
      # Crossplane writes that of the XRD to the CRD.
      - apiGroups: [apiextensions.crossplane.io]
        apiVersions: ["*"]
        resources: [compositeresourcedefinitions]
        resourceNames: [{{ toJson . }}]
        operations: [UPDATE]
      {{- end }}
  matchConditions:
    - name: had-a-webhook
      expression: oldObject.spec.?conversion.?strategy.orValue("") == "Webhook"
    {{- with .allowGroup }}
    - name: outside-of-the-allowed-group
      expression: {{ printf "!(%s in request.userInfo.?groups.orValue([]))" (toJson .) | toJson }}
    {{- end }}
  variables:
    # Versions that objects are requested or stored at.
    - name: used
      expression: >-
        object.spec.versions.filter(v, v.?served.orValue(false) || v.?storage.orValue(false) || v.?referenceable.orValue(false)).map(v, v.name)
        + oldObject.?status.?storedVersions.orValue([])
    - name: before
      expression: oldObject.spec.conversion.?webhook.?clientConfig.orValue({})
    - name: after
      expression: object.spec.?conversion.?webhook.?clientConfig.orValue({})
    # URL, or NAMESPACE/NAME:PORT/PATH of the Service, before and after.
    - name: addresses
      expression: >-
        [variables.before, variables.after].map(c, string(c.?url.orValue(c.?service.?namespace.orValue("") + "/" + c.?service.?name.orValue("")
        + ":" + string(c.?service.?port.orValue(443)) + c.?service.?path.orValue(""))))
    # A placeholder in caBundle is shorter than a certificate.
    - name: problem
      expression: >-
        !variables.used.exists(v, v != variables.used[0]) ? ""
        : object.spec.?conversion.?strategy.orValue("None") != "Webhook" ? "drops spec.conversion"
        : !(variables.addresses[1] in [variables.addresses[0]{{ with .webhook }}, {{ toJson . }}{{ end }}]) ? "points spec.conversion at another webhook"
        : size(variables.before.?caBundle.orValue("")) >= 100 && size(variables.after.?caBundle.orValue("")) < 100 ? "removes the CA from caBundle of spec.conversion"
        : ""
  {{- if eq .mode "restore" }}
  mutations:
    - patchType: JSONPatch
      # The value is spelt out, since CEL cannot copy the object of a built-in type into a patch.
      jsonPatch:
        expression: >-
          variables.problem == "" ? [] : [JSONPatch{op: "add", path: "/spec/conversion", value: {
          "strategy": dyn("Webhook"),
          "webhook": dyn({
          "conversionReviewVersions": dyn(oldObject.spec.conversion.webhook.conversionReviewVersions.map(v, v)),
          "clientConfig": dyn({
          ?"url": variables.before.?url,
          ?"caBundle": variables.before.?caBundle,
          ?"service": has(variables.before.service) ? optional.of(dyn({
          "namespace": dyn(variables.before.service.namespace), "name": dyn(variables.before.service.name),
          ?"path": variables.before.service.?path, ?"port": variables.before.service.?port})) : optional.none()})})}}]
  {{- else }}
  validations:
    - expression: variables.problem == ""
      messageExpression: >-
        "this update " + variables.problem + " while more than one version is in use, so objects would lose fields: take spec.conversion from the "
        + "present " + request.kind.kind + " into the manifest, as webhookd crd wire does, or delete this policy before you change it on purpose"
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
