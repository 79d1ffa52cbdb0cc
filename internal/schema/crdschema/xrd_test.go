package crdschema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

const bucketXRD = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xbuckets.example.org}
spec:
  group: example.org
  names: {kind: XBucket, plural: xbuckets}
  claimNames: {kind: Bucket, plural: buckets}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {region: {type: string}}}}}
`

// An XRD is the CRDs that Crossplane makes of it, with the fields that Crossplane adds.
func TestAnXRDIsItsCRDs(t *testing.T) {
	t.Parallel()
	crds, err := apiserver.Parse("xrd.yaml", []byte("# comment\n"+bucketXRD))
	if err != nil || len(crds) != 2 {
		t.Fatalf("%v, %v", crds, err)
	}
	for i, want := range []struct {
		kind, has, lacks string
		namespaced       bool
	}{{"XBucket.example.org", "claimRef", "resourceRef", false}, {"Bucket.example.org", "resourceRef", "claimRef", true}} {
		crd := crds[i]
		spec := crd.Versions[0].Root.Property("spec")
		if crd.GroupKind().String() != want.kind || crd.Namespaced != want.namespaced || crd.Line != 2 || crd.Versions[0].Line != 10 ||
			!crd.Versions[0].Storage || spec.Property("region") == nil || spec.Property(want.has) == nil || spec.Property(want.lacks) != nil {
			t.Errorf("%+v", crd)
		}
	}
}

// What is wrong with an XRD is said of the XRD.
func TestBrokenXRDs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{apiVersion: apiextensions.crossplane.io/v1beta1, kind: CompositeResourceDefinition}": `xrd.yaml:1: apiVersion of a CompositeResourceDefinition that is not known, write apiextensions.crossplane.io/v1 or v2: "apiextensions.crossplane.io/v1beta1"`,
		"{apiVersion: apiextensions.crossplane.io/v2, kind: CompositeResourceDefinition,\nmetadata: {name: as.b}, spec: {group: b, names: {kind: A, plural: as},\nversions: [{name: v1, storage: true,\nschema: {openAPIV3Schema: {type: object}}}]}}": `xrd.yaml:3: not a CompositeResourceDefinition: unknown field "spec.versions[0].storage"
xrd.yaml:3: 0 versions with referenceable: true, want exactly one: spec.versions`,
		"{apiVersion: apiextensions.crossplane.io/v2, kind: CompositeResourceDefinition,\nmetadata: {name: as.b}, spec: {group: b, names: {kind: A, plural: as},\nversions: [{name: v1, referenceable: true}]}}": `xrd.yaml:3: Required value: Crossplane makes no CRD without the schema of each version: spec.versions[0].schema.openAPIV3Schema`,
	} {
		crds, err := apiserver.Parse("xrd.yaml", []byte(in))
		if err == nil {
			t.Errorf("no error: %v", crds)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", in, diff)
		}
	}
}
