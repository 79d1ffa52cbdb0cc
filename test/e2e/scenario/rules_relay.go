package scenario

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// relayCRD is that of the kind that only rules convert.
func relayCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return ParseCRD(t, string(embedded(t, "crds")["relays."+rulesGroup+".yaml"]))
}

// relay returns the members of a Relay by version, of fields that all versions have in some way.
func relay() map[string]string {
	return map[string]string{
		"v1alpha1": `"spec":{"image":"a","size":1,"host":"localhost","port":"1234","rate":10,"mode":"all"}`,
		"v1beta1":  `"spec":{"image":"a","size":1,"hostPort":"localhost:1234","rate":10,"applyMode":"Always"}`,
		"v1": `"spec":{"image":"a","replicas":1,"upstream":{"host":"localhost","port":"1234"},` +
			`"limits":{"rate":10},"policy":"Apply"}`,
	}
}
