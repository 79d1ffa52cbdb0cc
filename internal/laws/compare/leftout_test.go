package compare_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// The paths are those without which the object would be another one at v1, and no others.
func TestFieldsThatAManifestLeavesOut(t *testing.T) {
	t.Parallel()
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"a":{"type":"string","default":"y"},"same":{"type":"string","default":"z"},"count":{"type":"integer"},
			"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
			"status":{"type":"object","properties":{"a":{"type":"string"}}}}}}},
		{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","required":["must"],"properties":{
			"must":{"type":"integer"},
			"a":{"type":"string","default":"x"},"same":{"type":"string","default":"z"},"count":{"type":"integer"},
			"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":"x"}}}},
			"status":{"type":"object","properties":{"a":{"type":"string","default":"x"}}}}}}}]}}`
	crds, err := apiserver.Parse("crd.json", []byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	removeMust := func(o *jsondoc.Object) error { return o.Remove("must") }
	r, err := hold.NewResource(thingsBy(removeMust, removeMust), nil, crds[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, object, complete string
		paths                  []string
	}{
		{"another default", `"must":1,"count":1`, `"must":1,"count":1,"a":"x"`, []string{".a"}},
		{"one of them", `"must":1,"a":"x","list":[{"a":"q"},{}]`, `"must":1,"a":"x","list":[{"a":"q"},{"a":"x"}]`, []string{".list[1].a"}},
		{"the text stays", `"must":1,"count":1e0 , "list":[]`, `"must":1,"count":1e0 , "list":[],"a":"x"`, []string{".a"}},
		{"all is there", `"must":1,"a":"y","same":"q"`, "", nil},
		{"status is not applied", `"must":1,"a":"y","status":{}`, "", nil},
		{"a patch", `"count":1`, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := func(members string) string {
				return `{"apiVersion":"example.com/v1beta1","kind":"Thing",` + members + `}`
			}
			paths, complete, err := compare.LeftOut(t.Context(), r, []byte(text(test.object)), "v1")
			want := test.complete
			if want != "" {
				want = text(want)
			}
			if diff := cmp.Diff(test.paths, paths); err != nil || diff != "" || string(complete) != want {
				t.Errorf("%s, %v (-want +got):\n%s", complete, err, diff)
			}
		})
	}
}
