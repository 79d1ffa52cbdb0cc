package rules_test

import (
	"context"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	public "github.com/crdconvert/webhookd/conversion"
	databases "github.com/crdconvert/webhookd/examples/custom-server/database"
)

// K3: the API server knows a field that webhookd's copy of the CRD lacks. It survives at whichever
// version it is created, written and stored.
func TestFieldsThatWebhookdDoesNotKnowSurvive(t *testing.T) {
	t.Parallel()
	skewRows().hold(t)
}

func TestFieldsThatGoTypesDoNotKnowSurvive(t *testing.T) {
	t.Parallel()
	goSkewRows().hold(t)
}

func skewRows() rows {
	const same = "note: string, m: {'*': {x: string}}, l: [{name: string, a: string}, name], u: [{a: string, c: string, d: string}]"
	known := two("{spec: {a: string, o: {x: string}, "+same+"}, status: {ready: boolean}}",
		"{spec: {b: string, p: {x: string}, "+same+"}, status: {ready: boolean}}",
		"- {spoke: .spec.a, hub: .spec.b}\n- {spoke: .spec.o, hub: .spec.p}")
	all := rows{}
	for _, v := range []string{"v1beta1", "v1"} {
		to := other(v)
		moved := map[string]string{"v1beta1": "o", "v1": "p"}[v]
		movedTo := map[string]string{"v1beta1": "o", "v1": "p"}[to]
		survives := func(name, short, created, patch, seen string) {
			has := known.with(v, short)
			all["of "+v+" alone: "+name] = row{world: known, steps: []step{
				clusterHas(has), create(v, created), shows(v, created), edit(to, patch), shows(v, seen), edit(v, `{spec: {note: y}}`),
				edit(to, `{spec: {note: null}}`), shows(v, seen), rewritten(to), rewritten(v), shows(v, seen),
				webhookdHas(has), shows(v, seen), rewritten(to), shows(v, seen),
			}}
		}
		survives("a field", "{spec: {fresh: string}}",
			`{spec: {fresh: f}}`, `{spec: {m: {k: {x: y}}}}`, `{spec: {fresh: f, m: {k: {x: y}}}}`)
		survives("an object", "{spec: {fresh: {x: {y: integer}, l: [string]}}}",
			`{spec: {fresh: {x: {y: 1}, l: [z]}}}`, `{spec: {m: {k: {x: y}}}}`, `{spec: {fresh: {x: {y: 1}, l: [z]}, m: {k: {x: y}}}}`)
		survives("in an object that moves", "{spec: {"+moved+": {fresh: string}}}",
			`{spec: {`+moved+`: {x: "1", fresh: f}}}`, `{spec: {`+movedTo+`: {x: "2"}}}`, `{spec: {`+moved+`: {x: "2", fresh: f}}}`)
		survives("in a value of a map", "{spec: {m: {'*': {fresh: string}}}}",
			`{spec: {m: {k: {x: "1", fresh: f}, j: {fresh: g}}}}`, `{spec: {m: {k: {x: "2"}, j: null}}}`, `{spec: {m: {k: {x: "2", fresh: f}}}}`)
		survives("in an element with a key", "{spec: {l: [{fresh: string}, name]}}",
			`{spec: {l: [{name: i, a: "1", fresh: f}, {name: j, fresh: g}]}}`, `{spec: {l: [{name: j}, {name: i, a: "2"}]}}`,
			`{spec: {l: [{name: j, fresh: g}, {name: i, a: "2", fresh: f}]}}`)
		survives("in an element without one", "{spec: {u: [{fresh: string}]}}",
			`{spec: {u: [{a: "1", c: "1", d: "1", fresh: f}, {a: "2"}]}}`, `{spec: {u: [{a: "1", c: "1", d: "3"}, {a: "2"}]}}`,
			`{spec: {u: [{a: "1", c: "1", d: "3", fresh: f}, {a: "2"}]}}`)
		survives("in status", "{status: {fresh: string}}",
			`{spec: {}, status: {ready: true, fresh: f}}`, `{status: {ready: false}}`, `{spec: {}, status: {ready: false, fresh: f}}`)
		survives("next to spec", "{fresh: {'*': string}}", `{fresh: {k: f}}`, `{spec: {m: {k: {x: y}}}}`, `{fresh: {k: f}, spec: {m: {k: {x: y}}}}`)

		all["of "+v+" alone: what is removed there is gone"] = row{world: known, steps: []step{
			clusterHas(known.with(v, "{spec: {fresh: string}}")), create(v, `{spec: {fresh: f}}`), edit(v, `{spec: {fresh: null}}`),
			shows(v, `{spec: {}}`), edit(to, `{spec: {note: x}}`), shows(v, `{spec: {note: x}}`),
		}}
		all["of "+v+" alone: what is edited there is seen"] = row{world: known, steps: []step{
			clusterHas(known.with(v, "{spec: {fresh: string}}")), create(v, `{spec: {fresh: f}}`), edit(v, `{spec: {fresh: g}}`),
			edit(to, `{spec: {note: x}}`), shows(v, `{spec: {fresh: g, note: x}}`),
		}}
		both := known.with("v1beta1", "{spec: {fresh: string}}").with("v1", "{spec: {fresh: string}}")
		all["of both versions, created at "+v+": an edit is seen"] = row{world: known, steps: []step{
			clusterHas(both), create(v, `{spec: {fresh: f}}`), edit(to, `{spec: {fresh: g}}`),
			shows(v, `{spec: {fresh: g}}`), edit(v, `{spec: {fresh: h}}`), shows(to, `{spec: {fresh: h}}`),
		}}
		// It may have been pruned, but it is better kept than lost.
		all["of both versions, created at "+v+": a removal elsewhere cannot be seen"] = row{world: known, steps: []step{
			clusterHas(both), create(v, `{spec: {fresh: f}}`), edit(to, `{spec: {fresh: null}}`), shows(v, `{spec: {fresh: f}}`),
			webhookdHas(both), edit(v, `{spec: {fresh: null}}`), shows(v, `{spec: {}}`), shows(to, `{spec: {}}`),
		}}
	}
	three, _ := relays()
	for v, to := range map[string]string{"v1alpha1": "v1", "v1beta1": "v1alpha1", "v1": "v1alpha1"} {
		all["of "+v+" alone, of three versions"] = row{world: three, steps: []step{
			clusterHas(three.with(v, "{spec: {fresh: string}}")), create(v, `{spec: {fresh: f}}`), edit(to, `{spec: {image: i}}`),
			shows(v, `{spec: {fresh: f, image: i}}`), edit(v, `{spec: {fresh: g}}`), rewritten(to), shows(v, `{spec: {fresh: g, image: i}}`),
			edit(v, `{spec: {fresh: null}}`), rewritten(to), shows(v, `{spec: {image: i}}`),
		}}
	}
	loose := two("{spec: {o: {'+': any}}}", "{spec: {o: {'+': any}}}", "")
	maps.Copy(all, rows{
		"whose name the other version has for something else": {world: known, steps: []step{
			clusterHas(known.with("v1beta1", "{spec: {b: string}}")), create("v1beta1", `{spec: {a: "1", b: "2"}}`),
			shows("v1", `{spec: {b: "1"}}`), edit("v1", `{spec: {b: "3"}}`), shows("v1beta1", `{spec: {a: "3", b: "2"}}`),
			edit("v1beta1", `{spec: {a: null}}`), shows("v1", `{spec: {}}`), shows("v1beta1", `{spec: {b: "2"}}`),
		}},
		"where nothing is unknown, what is removed is gone": {world: loose, steps: []step{
			create("v1", `{spec: {o: {x: 1, y: 2}}}`), keepsNothing, edit("v1beta1", `{spec: {o: {x: null}}}`), shows("v1", `{spec: {o: {y: 2}}}`),
		}},
		"next to a function in Go": {world: exampleOf("maintenance-window"), steps: []step{
			clusterHas(exampleOf("maintenance-window").with("v1", "{spec: {fresh: string, window: {fresh: string}}}")),
			create("v1", `{spec: {fresh: f, window: {days: [Mon], start: "1", fresh: g}}}`), edit("v1beta1", `{spec: {target: t}}`),
			shows("v1", `{spec: {target: t, fresh: f, window: {days: [Mon], start: "1", fresh: g}}}`),
			edit("v1beta1", `{spec: {window: Tue 2}}`),
			shows("v1", `{spec: {target: t, fresh: f, window: {days: [Tue], start: "2", fresh: g}}}`),
		}},
		"next to the text of a function in Go": {world: exampleOf("maintenance-window"), steps: []step{
			clusterHas(exampleOf("maintenance-window").with("v1beta1", "{spec: {fresh: string}}")),
			create("v1beta1", `{spec: {fresh: f, window: Mon 1}}`), edit("v1", `{spec: {target: t, window: {start: "2"}}}`),
			shows("v1beta1", `{spec: {target: t, fresh: f, window: Mon 2}}`),
		}},
	})
	return all
}

// goSkewRows are about kinds whose versions are Go types: webhookd does not know a field that they
// lack.
func goSkewRows() rows {
	known := world{crdFile: "examples/crds/databases.example.com.yaml", goKind: databases.Kind}
	all := rows{}
	for v, to := range map[string]string{"v1alpha1": "v1", "v1beta1": "v1alpha1", "v1": "v1alpha1"} {
		all["Database, of "+v+" alone"] = row{world: known, steps: []step{
			clusterHas(known.with(v, "{spec: {fresh: string}, status: {fresh: {'*': string}}}")),
			create(v, `{spec: {engine: e, fresh: f}, status: {ready: true, fresh: {k: x}}}`), edit(to, `{spec: {engine: g}}`),
			shows(v, `{spec: {engine: g, fresh: f}, status: {ready: true, fresh: {k: x}}}`),
			edit(v, `{spec: {fresh: h}}`), edit(to, `{spec: {engine: i}}`),
			shows(v, `{spec: {engine: i, fresh: h}, status: {ready: true, fresh: {k: x}}}`),
			edit(v, `{spec: {fresh: null}}`), rewritten(to), shows(v, `{spec: {engine: i}, status: {ready: true, fresh: {k: x}}}`),
		}}
	}
	for _, v := range []string{"v1beta1", "v1"} {
		all["Database, in what v1alpha1 has no place for, of "+v] = row{world: known, steps: []step{
			clusterHas(known.with(v, "{spec: {backupPolicy: {fresh: string}}}")),
			create(v, `{spec: {backupPolicy: {schedule: "0 3 * * *", fresh: f}}}`), edit("v1alpha1", `{spec: {backup: "@daily", engine: e}}`),
			shows(v, `{spec: {engine: e, backupPolicy: {schedule: "@daily", fresh: f}}}`),
		}}
	}
	boxes := boxWorld()
	maps.Copy(all, rows{
		"Box, in what moves": {world: boxes, steps: []step{
			clusterHas(boxes.with("v1", "{spec: {lid: {fresh: string}}}")), create("v1", `{spec: {lid: {color: red, fresh: f}}}`),
			edit("v1beta1", `{spec: {cover: {color: blue}}}`), shows("v1", `{spec: {lid: {color: blue, fresh: f}}}`),
		}},
		"Box, in an element of a list that moves": {world: boxes, steps: []step{
			clusterHas(boxes.with("v1", "{spec: {things: [{fresh: string}]}}")),
			create("v1", `{spec: {things: [{name: a, fresh: f}, {name: b}]}}`), edit("v1beta1", `{spec: {cover: {color: blue}}}`),
			shows("v1", `{spec: {lid: {color: blue}, things: [{name: a, fresh: f}, {name: b}]}}`),
			edit("v1beta1", `{spec: {items: [{name: n}, {name: a}, {name: b}]}}`),
			shows("v1", `{spec: {lid: {color: blue}, things: [{name: n}, {name: a, fresh: f}, {name: b}]}}`),
		}},
		"Box, whose name the other Go type has for something else": {world: boxes, steps: []step{
			clusterHas(boxes.with("v1beta1", "{spec: {lid: string}}")), create("v1beta1", `{spec: {lid: x, cover: {color: red}}}`),
			shows("v1", `{spec: {lid: {color: red}}}`), edit("v1", `{spec: {lid: {color: blue}}}`),
			shows("v1beta1", `{spec: {lid: x, cover: {color: blue}}}`),
		}},
	})
	return all
}

// A box is a kind of Go types, whose v1 has other names for things.
type (
	boxV1beta1 struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`

		Spec struct {
			Cover *cover  `json:"cover,omitempty"`
			Items []piece `json:"items,omitempty"`
		} `json:"spec,omitempty"`
	}
	boxV1 struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`

		Spec struct {
			Lid    *cover  `json:"lid,omitempty"`
			Things []piece `json:"things,omitempty"`
		} `json:"spec,omitempty"`
	}
	cover struct {
		Color *string `json:"color,omitempty"`
	}
	piece struct {
		Name string `json:"name,omitempty"`
	}
)

func boxWorld() world {
	w := two("{spec: {cover: {color: string}, items: [{name: string}]}}", "{spec: {lid: {color: string}, things: [{name: string}]}}", "")
	w.goKind = func(crd []byte) (public.Kind, error) {
		return public.Lossless(public.HubSpoke("v1", public.NewSpoke("v1beta1",
			func(_ context.Context, src *boxV1beta1, dst *boxV1) error {
				dst.Spec.Lid, dst.Spec.Things = src.Spec.Cover, src.Spec.Items
				return nil
			},
			func(_ context.Context, src *boxV1, dst *boxV1beta1) error {
				dst.Spec.Cover, dst.Spec.Items = src.Spec.Lid, src.Spec.Things
				return nil
			})), crd)
	}
	return w
}
