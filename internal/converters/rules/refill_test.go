package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A field of one version that the way back fills in, from metadata or with a default, is kept
// exactly if it has another value, and comes back either way.
func TestFieldsThatAreFilledInAgain(t *testing.T) {
	t.Parallel()
	computed := "Ref:\n- {spoke: .namespace, toSpoke: metadata.namespace}"
	both := "Ref:\n- {spoke: .namespace, toSpoke: metadata.namespace}\n- {spoke: .kind, defaultInSpoke: Node}"
	moved := "\n- {spoke: '.metadata.labels[\"x\"]', hub: .spec.x}"
	reads := "\n- {spoke: .spec.a, hub: .spec.b, toHub: 'self + \"!\"', toSpoke: 'string(has(object.spec.ref))'}"
	for name, tt := range map[string]struct {
		sets, more, from, ref string
		keeps                 bool
	}{
		"the value of metadata":                 {computed, "", "v1beta1", `{"name":"n","namespace":"ns"}`, false},
		"another value":                         {computed, "", "v1beta1", `{"name":"n","namespace":"other"}`, true},
		"none":                                  {computed, "", "v1beta1", `{"name":"n"}`, true},
		"an empty value":                        {computed, "", "v1beta1", `{"name":"n","namespace":""}`, true},
		"alone":                                 {computed, "", "v1beta1", `{"namespace":"ns"}`, false},
		"an object with nothing":                {computed, "", "v1beta1", `{}`, true},
		"from the hub":                          {computed, "", "v1", `{"name":"n"}`, false},
		"from the hub, with nothing in it":      {computed, "", "v1", `{}`, false},
		"a default":                             {both, "", "v1beta1", `{"name":"n","namespace":"ns","kind":"Node"}`, false},
		"another value than the default":        {both, "", "v1beta1", `{"name":"n","namespace":"ns","kind":"Pod"}`, true},
		"no default":                            {both, "", "v1beta1", `{"name":"n","namespace":"ns"}`, true},
		"a default that is not put in":          {both, "", "v1", `{"name":"n"}`, false},
		"where rules change metadata":           {computed, moved, "v1beta1", `{"name":"n","namespace":"ns"}`, false},
		"where an expression reads the object":  {computed, reads, "v1", `{"name":"n"}`, false},
		"where one reads it, and another value": {computed, reads, "v1beta1", `{"name":"n","namespace":"other"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := "{name: string, namespace: string, kind: string}"
			p := pair{
				beta: "spec: {ref: " + ref + ", a: string}", v1: "spec: {ref: {name: string}, x: string, b: string}",
				rules: "- {spoke: .spec.ref, hub: .spec.ref, use: Ref}" + tt.more, sets: tt.sets,
			}
			kind, to := p.kind(t), map[string]string{"v1": "v1beta1", "v1beta1": "v1"}[tt.from]
			object := `{"apiVersion":"example.com/` + tt.from + `","kind":"Thing","metadata":{"name":"n","namespace":"ns"},"spec":{"ref":` + tt.ref + `}}`
			there := convert(t, kind, object, tt.from, to)
			if keeps := strings.Contains(there, ".spec.ref"); keeps != tt.keeps {
				t.Errorf("kept is %t: %s", keeps, there)
			}
			if diff := cmp.Diff(asStored(t, []byte(object)), asStored(t, []byte(convert(t, kind, there, to, tt.from)))); diff != "" {
				t.Errorf("it comes back otherwise (-want +got):\n%s\nthere: %s", diff, there)
			}
		})
	}
}
