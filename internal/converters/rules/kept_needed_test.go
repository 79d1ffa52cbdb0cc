package rules_test

import "testing"

// What the engine of kept values notes of rules, each in the smallest case that needs it.
func TestKeptValuesNeed(t *testing.T) {
	t.Parallel()
	union := two("{spec: {sso: {old: {requests: {a: string}}, new: {requests: {a: string}}}}}", "{spec: {sso: {limits: {requests: {a: string}}}}}",
		"- {spoke: {old: .spec.sso.old, new: .spec.sso.new}, hub: .spec.sso.limits, toHub: 'self.?old.or(self.?new)', toSpoke: '{\"new\": self}'}")
	defaulted := two("{spec: {n: integer}}", "{spec: {n: integer, roles: [string]}}", "").patched("v1",
		"properties: {spec: {properties: {roles: {default: [admin, viewer]}}}}")
	held := two("{spec: {n: integer, r: [string]}}", "{spec: {n: integer, roles: [string]}}",
		"- {spoke: .spec.r, hub: .spec.roles, whenToSpoke: 'false'}").patched("v1", "properties: {spec: {properties: {roles: {default: [admin, viewer]}}}}")
	condition := two("{spec: {a: integer, b: string}}", "{spec: {c: string, d: string}}",
		"- {spoke: .spec.a, hub: .spec.c, codec: String, defaultInSpoke: 3}\n- {spoke: .spec.b, hub: .spec.d, whenToSpoke: 'has(object.spec.c)'}")
	const state = "properties: {spec: {properties: {k: {properties: {m: {default: {state: Off}}}}}}}"
	decided := two("{spec: {k: {m: {state: 'string = \"Off\"'}}}}",
		"{spec: {gateway: {state: string, models: {state: 'string = \"Off\"'}}, k: {m: {state: 'string = \"Off\"'}}}}",
		"- {spoke: .spec.k.m.state, hub: {k: .spec.k.m.state, models: .spec.gateway.models.state, gateway: .spec.gateway.state}, "+
			"toHub: '{\"k\": self, \"models\": self, \"gateway\": self}', toSpoke: 'has(self.k) ? self.?models.or(self.?k) : optional.none()'}",
	).patched("v1beta1", state).patched("v1", state)
	first := two("{spec: {x: string, y: string}}", "{spec: {l: [{a: string, b: string, only: string}]}}",
		"- {spoke: .spec.x, hub: '.spec.l[0].a'}\n- {spoke: .spec.y, hub: '.spec.l[0].b'}")
	presence := two("{spec: {n: integer, is: 'boolean = false'}}", "{spec: {text: string}}",
		"- {spoke: .spec.n, hub: .spec.text, codec: String}\n- {spoke: .spec.is, toSpoke: 'has(object.spec.text)'}")
	modes := two("{spec: {policy: {mode: string}}}", `{spec: {apply: {mode: 'string = "Apply"'}}}`,
		"- {spoke: .spec.policy.mode, hub: .spec.apply.mode, values: {All: Apply, None: Apply}}")
	labelled := two("{spec: {a: 'boolean = false', o: {m: 'integer = 1'}}}", "{spec: {o: {m: 'integer = 1'}}}",
		`- {spoke: .spec.a, hub: '.metadata.labels["x"]', values: {true: "true", false: ""}, omitEmpty: Hub, defaultFrom: schema}`)
	for _, version := range []string{"v1beta1", "v1"} {
		labelled = labelled.patched(version, "properties: {spec: {properties: {o: {default: {}}}}}")
	}
	labels := two("{spec: {}}", "{spec: {n: integer, m: integer}}", `- {spoke: '.metadata.labels["n"]', hub: .spec.n, codec: String}
- {spoke: '.metadata.labels["m"]', hub: .spec.m, values: {a: 1}}`)
	hasLabels := two("{spec: {}}", "{spec: {f: boolean, m: integer}}", `- {spoke: '.metadata.labels["m"]', hub: .spec.m, values: {a: 1}}
- {hub: .spec.f, toHub: has(object.metadata.labels)}`)
	defaultOfRule := two("{spec: {a: string, o: {n: integer}}}", "{spec: {o: {b: boolean, n: integer}}}", `- spoke: .spec.a
  hub: .spec.o.b
  toHub: 'self == "true" ? optional.of(true) : optional.none()'
  toSpoke: 'self ? optional.of("true") : optional.none()'
  defaultInHub: false`)
	rows{
		"that a rule fills something in, next to what it has come to map": {world: defaultOfRule, storage: "v1", steps: []step{
			create("v1", `{spec: {o: {n: 1}}}`), annotated(map[string]string{"conversion.webhookd.io/v1beta1.spec.a": `{"value":""}`}),
			rewritten("v1beta1"), shows("v1", `{spec: {o: {n: 1}}}`), shows("v1beta1", `{spec: {a: "", o: {n: 1}}}`),
		}},
		"the only label, whose presence an expression reads": {world: hasLabels, steps: []step{
			create("v1beta1", `{metadata: {labels: {m: ""}}, spec: {}}`), rewritten("v1"), shows("v1", `{spec: {f: true}}`),
			shows("v1beta1", `{metadata: {labels: {m: ""}}, spec: {}}`),
		}},
		"a label next to one that the other version cannot show": {world: labels, steps: []step{
			create("v1", `{spec: {n: -5}}`), edit("v1beta1", `{metadata: {labels: {m: ""}}}`),
			shows("v1beta1", `{metadata: {labels: {m: ""}}, spec: {}}`), shows("v1", `{spec: {n: -5}}`),
		}},
		"a default, unless it goes with the object that it is in": {world: modes, steps: []step{
			create("v1beta1", `{metadata: {uid: u}, spec: {policy: {mode: None}}}`), edit("v1", `{spec: {apply: null}}`),
			shows("v1beta1", `{spec: {}}`), rewritten("v1beta1"), shows("v1", `{spec: {}}`),
		}},
		"that there was nothing, where an object has defaults in a default": {world: labelled, steps: []step{
			create("v1", `{metadata: {uid: u, labels: {x: ""}}}`), edit("v1beta1", `{spec: null}`), shows("v1beta1", `{}`),
			rewritten("v1"), shows("v1beta1", `{}`),
		}},
		"that a condition decided, so rules have not come to map it": {world: presence, steps: []step{
			create("v1beta1", `{spec: {}}`), annotated(map[string]string{"conversion.webhookd.io/v1.spec.text": `{"value":""}`}),
			rewritten("v1"), shows("v1beta1", `{spec: {is: false}}`), rewritten("v1beta1"), shows("v1beta1", `{spec: {is: false}}`),
		}},
		"that a first element is the same one, whatever is edited of it": {world: first, steps: []step{
			create("v1", `{spec: {l: [{a: p, b: q, only: k}, {a: r, only: s}]}}`), edit("v1beta1", `{spec: {x: p2, y: q2}}`),
			shows("v1", `{spec: {l: [{a: p2, b: q2, only: k}, {a: r, only: s}]}}`),
		}},
		"a place below one that its unit no longer shows": {world: union, steps: []step{
			create("v1beta1", `{spec: {sso: {old: {requests: {}}}}}`), edit("v1", `{spec: {sso: {limits: null}}}`),
			shows("v1beta1", `{spec: {sso: {}}}`), rewritten("v1"), shows("v1", `{spec: {sso: {}}}`),
		}},
		"a value where the schema fills in a list of that length": {world: defaulted, steps: []step{
			create("v1", `{spec: {n: 1, roles: ["", ""]}}`), edit("v1beta1", `{spec: {n: 2}}`), shows("v1", `{spec: {n: 2, roles: ["", ""]}}`),
		}},
		"the same where a condition holds it back": {world: held, steps: []step{
			create("v1", `{spec: {n: 1, roles: ["", ""]}}`), edit("v1beta1", `{spec: {n: 2}}`), shows("v1", `{spec: {n: 2, roles: ["", ""]}}`),
		}},
		"that nothing was at a place whose presence a condition reads": {world: condition, storage: "v1beta1", steps: []step{
			create("v1", `{spec: {}}`), edit("v1beta1", `{spec: {a: 3, b: x}}`), shows("v1", `{spec: {c: "3", d: x}}`),
		}},
		"that an expression decides what is around": {world: decided, steps: []step{
			create("v1", `{spec: {gateway: {state: On}, k: {}}}`), edit("v1beta1", `{spec: {k: null}}`), shows("v1", `{spec: {}}`),
		}},
	}.hold(t)
}
