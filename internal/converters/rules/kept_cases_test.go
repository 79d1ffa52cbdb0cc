package rules_test

import (
	"maps"
	"testing"
)

// Losses that people have reported, or that a random walk has found.
func TestCasesOfLoss(t *testing.T) {
	t.Parallel()
	all := rows{}
	for _, more := range []rows{defaultCases(), keyCases(), inputCases()} {
		maps.Copy(all, more)
	}
	all.hold(t)
}

// defaultCases are about defaults in objects that only annotations hold, and of other versions.
func defaultCases() rows {
	framework := two("{spec: {image: string}}", "{spec: {image: string, framework: {name: string, parameters: {'*': string}}}}",
		"- {hub: .spec.framework.name, defaultInHub: tfx}\n- {hub: .spec.framework.parameters}")
	all := rows{}
	for name, kept := range map[string]string{
		"a rule's default next to an empty object": "name: tfx, parameters: {}", "next to a value": "name: tfx, parameters: {a: b}",
		"alone": "name: tfx", "and not": "name: kfp", "and absent": "parameters: {a: b}", "and absent, and nothing else is there": "",
	} {
		all[name] = row{world: framework, steps: []step{
			create("v1", `{spec: {image: i, framework: {`+kept+`}}}`), edit("v1beta1", `{spec: {image: j}}`),
			shows("v1", `{spec: {image: j, framework: {`+kept+`}}}`),
		}}
	}
	between := world{schemas: map[string]string{
		"v1alpha1": `{spec: {x: string, d: 'string = "B"'}}`, "v1beta1": "{spec: {x: string}}", "v1": `{spec: {x: string, d: 'string = "B"'}}`,
	}}
	condition := two("{spec: {s: boolean}}", `{spec: {h: boolean, k: 'string = "B"'}}`,
		`- {spoke: .spec.s, hub: .spec.h, whenToSpoke: 'object.?spec.?k.orValue("") == ""'}`)
	database := world{hub: "v1beta1", schemas: map[string]string{
		"v1alpha1": "{spec: {backup: string}}",
		"v1beta1":  "{spec: {backupPolicy: {schedule: string, retentionDays: integer = 7}}}",
		"v1":       "{spec: {backupPolicy: {schedule: string, retentionDays: integer = 7}}}",
	}, rules: map[string]string{"v1alpha1": "- {spoke: .spec.backup, hub: .spec.backupPolicy.schedule}"}}
	maps.Copy(all, rows{
		"a value equal to its default, between spokes": {world: between, steps: []step{
			create("v1alpha1", `{spec: {x: "1", d: B}}`), edit("v1beta1", `{spec: {x: "2"}}`), shows("v1alpha1", `{spec: {x: "2", d: B}}`),
		}},
		"a condition reads a default of one version": {world: condition, steps: []step{
			create("v1beta1", `{spec: {s: false}}`), shows("v1beta1", `{spec: {s: false}}`), rewritten("v1"), shows("v1beta1", `{spec: {s: false}}`),
		}},
		"a default of the hub is shown in one step as over the hub": {world: database, steps: []step{
			create("v1alpha1", `{spec: {backup: daily}}`), showsAsItIs("v1", `{spec: {backupPolicy: {schedule: daily, retentionDays: 7}}}`),
			showsAsItIs("v1beta1", `{spec: {backupPolicy: {schedule: daily, retentionDays: 7}}}`),
		}},
	})
	return all
}

// keyCases are about keys that do not cross one to one.
func keyCases() rows {
	ports := two("{spec: {ports: [{port: integer, name: string}]}}",
		"{spec: {ports: [{port: integer, protocol: string = \"TCP\", name: string, app: string}, port, protocol]}}", "")
	types := two("{spec: {c: [{type: enum ImageReady ProviderReady Synced, status: string, old: string}, type]}}",
		"{spec: {c: [{type: enum Ready InSync, status: string}, type]}}",
		"- {spoke: '.spec.c[].type', hub: '.spec.c[].type', values: {ImageReady: Ready, ProviderReady: Ready, Synced: InSync}}")
	return rows{
		"a key that the other version lacks repeats": {world: ports, steps: []step{
			create("v1", `{spec: {ports: [{port: 53, protocol: TCP, app: a}, {port: 53, protocol: UDP, app: b}, {port: 80, protocol: TCP}]}}`),
			edit("v1beta1", `{spec: {ports: [{port: 53}, {port: 53}, {port: 80, name: web}]}}`),
			shows("v1", `{spec: {ports: [{port: 53, protocol: TCP, app: a}, {port: 53, protocol: UDP, app: b}, {port: 80, protocol: TCP, name: web}]}}`),
		}},
		"several keys become one": {world: types, steps: []step{
			create("v1beta1", `{spec: {c: [{type: ProviderReady, old: x}, {type: Synced, old: y}]}}`),
			edit("v1", `{spec: {c: [{type: Ready, status: E}, {type: InSync}]}}`),
			shows("v1beta1", `{spec: {c: [{type: ProviderReady, status: E, old: x}, {type: Synced, old: y}]}}`),
			shows("v1", `{spec: {c: [{type: Ready, status: E}, {type: InSync}]}}`),
		}},
	}
}

// inputCases are about what kept values depend on.
func inputCases() rows {
	size := two("{spec: {n: integer, c: [string]}}", "{spec: {c: [string]}}", "- {spoke: .spec.n, toSpoke: 'size(object.?spec.?c.orValue([]))'}")
	approved := two("{spec: {role: string}, status: {phase: string, by: string}}", "{spec: {role: string}, status: {phase: string}}", "")
	steps := two("{spec: {role: string}, status: {done: [{name: string, by: string}]}}", "{spec: {role: string}, status: {done: [{name: string}]}}", "")
	taken := two("{spec: {d: {a: string, c: string}}}", "{spec: {n: {c: string}}}", "- {spoke: .spec.d, hub: .spec.n}\n- {spoke: .spec.d.a, hub: .spec.n.c}")
	first := two("{spec: {}}", "{spec: {b: [{x: string}]}}", "- {hub: '.spec.b[0]'}")
	dropped := two("{spec: {c: {a: integer, d: {a: integer}}}}", "{spec: {}}", "- {spoke: .spec.c, drop: no use}\n- {spoke: .spec.c.a}")
	gates := two("{spec: {gates: {a: boolean, old: string}}}", "{spec: {gates: [{name: string, state: string, only: string}, name]}}",
		"- {spoke: .spec.gates.a, hub: '.spec.gates[name=a].state', values: {true: On, false: Off}}\n- {spoke: .spec.gates.old}\n- {hub: '.spec.gates[]'}")
	encoded := two("{spec: {s: string}}", "{spec: {h: string}}", "- {spoke: .spec.s, hub: .spec.h, codec: Base64}").patched("v1beta1",
		"properties: {spec: {properties: {s: {format: byte}}}}")
	return rows{
		"an expression reads the size of a list": {world: size, steps: []step{
			create("v1beta1", `{spec: {c: []}}`), shows("v1beta1", `{spec: {c: []}}`), edit("v1", `{spec: {c: [b]}}`), shows("v1beta1", `{spec: {n: 1, c: [b]}}`),
		}},
		"status belongs to its object": {world: approved, storage: "v1", steps: []step{
			create("v1beta1", `{spec: {role: view}, status: {by: alice}}`), edit("v1", `{spec: {role: edit}}`),
			shows("v1beta1", `{spec: {role: edit}, status: {by: alice}}`),
			edit("v1", `{metadata: {uid: other}}`), shows("v1beta1", `{spec: {role: edit}, status: {}}`),
		}},
		"status in a list without keys, too": {world: steps, storage: "v1", steps: []step{
			create("v1beta1", `{status: {done: [{name: a, by: alice}]}}`), edit("v1", `{spec: {role: edit}}`),
			shows("v1beta1", `{spec: {role: edit}, status: {done: [{name: a, by: alice}]}}`),
			edit("v1", `{metadata: {uid: other}}`), shows("v1beta1", `{spec: {role: edit}, status: {done: [{name: a}]}}`),
		}},
		"the place of the same name is taken": {world: taken, steps: []step{
			create("v1beta1", `{spec: {d: {a: x, c: y}}}`), edit("v1", `{spec: {n: {c: z}}}`), shows("v1beta1", `{spec: {d: {a: z, c: y}}}`),
		}},
		"a first element without anything": {world: first, steps: []step{
			create("v1", `{spec: {b: [{}]}}`), shows("v1beta1", `{spec: {}}`), shows("v1", `{spec: {b: [{}]}}`),
		}},
		"an object whose parts are dropped": {world: dropped, storage: "v1", steps: []step{
			create("v1beta1", `{spec: {c: {d: {a: 1}}}}`), shows("v1", `{spec: {}}`), shows("v1beta1", `{spec: {c: {}}}`),
		}},
		"an object there, a list of that name here": {world: gates, steps: []step{
			create("v1", `{spec: {gates: [{name: a, state: On}, {name: b, state: On, only: x}]}}`), shows("v1beta1", `{spec: {gates: {a: true}}}`),
			edit("v1beta1", `{spec: {gates: {a: false, old: y}}}`),
			shows("v1", `{spec: {gates: [{name: a, state: Off}, {name: b, state: On, only: x}]}}`),
			shows("v1beta1", `{spec: {gates: {a: false, old: y}}}`),
		}},
		"no text cannot be encoded as bytes": {world: encoded, steps: []step{
			create("v1", `{spec: {h: ""}}`), shows("v1beta1", `{spec: {}}`), shows("v1", `{spec: {h: ""}}`),
		}},
	}
}
