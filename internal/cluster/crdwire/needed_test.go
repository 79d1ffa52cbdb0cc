package crdwire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

// A few hundred bytes of a CRD of megabytes are needed, and kept: a Job may have many to read.
func TestSchemasAreNotRead(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	schema := `"schema":{"openAPIV3Schema":{"type":"object","description":"` + strings.Repeat("long ", 2000) + `"}},`
	bare := strings.Replace(injected("", none), `"annotations":{`, `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"long",`, 1)
	bare = strings.Replace(bare, `"name":"v2"`, `"name":"v2","subresources":{"status":{}}`, 1)
	s.Put(t, crdwire.Path(things), "kubectl", strings.Replace(bare, `"served":true,"storage"`, schema+`"served":true,"storage"`, 1))
	s.Apply(t, crdwire.Path(things), "argocd", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+things+`"},
		"spec":{"conversion":{"strategy":"None"},"scope":"Namespaced"}}`)
	read := map[string]*crdwire.CRD{}
	var err error
	if read["one"], err = crdwire.Read(t.Context(), s.Client(t), things); err != nil {
		t.Fatal(err)
	}
	all, _, err := crdwire.ReadAll(t.Context(), s.Client(t), nil, nil)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	read["all"] = all[0]
	parsed, err := crdwire.Parse([]byte(bare))
	if err != nil {
		t.Fatal(err)
	}
	want := parsed[0]
	for name, got := range read {
		if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.Status.StoredVersions, got.Status.StoredVersions); diff != "" || got.Name != things || got.ResourceVersion == "" {
			t.Errorf("%s: %+v, %+v", name, got.ObjectMeta, got.Status)
		}
		if diff := cmp.Diff(map[string]string{"cert-manager.io/inject-ca-from": "ns/webhookd"}, got.Annotations); diff != "" {
			t.Errorf("%s: annotations (-want +got):\n%s", name, diff)
		}
		fields := map[string]string{}
		for _, entry := range got.ManagedFields {
			fields[entry.Manager] = string(entry.FieldsV1.GetRawBytes())
		}
		owned := `{"f:spec":{"f:conversion":{".":{},"f:strategy":{}}}}`
		if diff := cmp.Diff(map[string]string{"argocd": owned, "kubectl": owned}, fields); diff != "" {
			t.Errorf("%s: managed fields (-want +got):\n%s", name, diff)
		}
	}
}

// Only the schemas that the caller asks for are read.
func TestOnlyRequestedSchemasAreRead(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	schema := `"schema":{"openAPIV3Schema":{"type":"object"}},`
	for _, name := range []string{things, "a.example.com"} {
		text := strings.Replace(crdJSON(none), `"served":true,"storage"`, schema+`"served":true,"storage"`, 1)
		s.Put(t, crdwire.Path(name), "kubectl", strings.Replace(text, things, name, 1))
	}
	for _, names := range [][]string{nil, {things, "a.example.com"}} {
		crds, missing, err := crdwire.ReadAll(t.Context(), s.Client(t), names, func(crd *crdwire.CRD) bool { return crd.Name == things })
		if err != nil || len(crds) != 2 || missing != nil {
			t.Fatal(crds, missing, err)
		}
		for _, crd := range crds {
			schemas := 0
			for _, v := range crd.Spec.Versions {
				if v.Schema != nil && v.Schema.OpenAPIV3Schema.Type == "object" {
					schemas++
				}
			}
			if want := map[string]int{things: 1}[crd.Name]; schemas != want {
				t.Errorf("%s of %v: %d schemas, want %d", crd.Name, names, schemas, want)
			}
		}
	}
}

// A cluster may have more CRDs than fit on a page.
func TestAllCRDsAreReadOnce(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.PageSize = 2
	names := []string{"a.example.com", "b.example.com", "c.example.com"}
	for _, name := range names {
		s.Put(t, crdwire.Path(name), "kubectl", strings.Replace(crdJSON(none), things, name, 1))
	}
	crds, _, err := crdwire.ReadAll(t.Context(), s.Client(t), nil, nil)
	got := make([]string, 0, len(crds))
	for _, crd := range crds {
		got = append(got, crd.Name)
	}
	if diff := cmp.Diff(names, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
