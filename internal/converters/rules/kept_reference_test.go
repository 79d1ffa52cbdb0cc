package rules_test

import "testing"

// What an implementation of the documentation alone found (test/reference).
func TestKeptValuesAsDocumented(t *testing.T) {
	t.Parallel()
	nearby := two("{spec: {ax: string}}", "{spec: {a: {x: integer, k: string}}}",
		"- {spoke: .spec.ax, hub: .spec.a.x, codec: DurationSeconds}\n- {hub: .spec.a.k}")
	hosts := two("{spec: {hosts: [string]}}", "{spec: {hosts: [{name: string, k: string}]}}",
		"- {spoke: '.spec.hosts[]', hub: '.spec.hosts[].name'}\n- {hub: '.spec.hosts[].k'}")
	ports := two("{spec: {ports: [integer]}}", `{spec: {ports: [{port: integer, protocol: 'string = "TCP"'}]}}`,
		"- {spoke: '.spec.ports[]', hub: '.spec.ports[].port'}\n- {hub: '.spec.ports[].protocol'}")
	managed := two("{spec: {g: boolean, all: boolean}}", "{spec: {g: {all: 'boolean = false', rules: string}}}", `
- spoke: {managed: .spec.g, all: .spec.all}
  hub: {all: .spec.g.all, rules: .spec.g.rules}
  toHub: |
    !self.?managed.orValue(false) ? optional.none() :
    self.?all.orValue(false) ? optional.of({"all": dyn(true)}) : optional.of({"all": dyn(false), "rules": "calico"})
  toSpoke: '{"managed": optional.of(true), "all": self.?all}'`)
	swapped := two("{spec: {l: [{id: string, s2: string}]}}", "{spec: {l: [{id: string, h2: string, w: string}]}}", `
- {spoke: '.spec.l[].s2', toSpoke: 'has(element.h2) ? "yes" : "no"'}
- {hub: ['.spec.l[].h2', '.spec.l[].w']}`)
	made := two("{spec: {type: string, m: string}}", "{spec: {type: string, r: {p: string, m: string}}}", `
- spoke: .spec.type
  hub: {type: .spec.type, policy: .spec.r.p}
  toHub: 'self == "OnDelete" ? {"type": self} : {"type": "RollingUpdate", "policy": self}'
  toSpoke: 'self.?type.orValue("") == "OnDelete" ? "OnDelete" : self.?policy.orValue("ReCreate")'
- {spoke: .spec.m, hub: .spec.r.m}`)
	either := two("{spec: {names: [string], checks: [{name: string}]}}", "{spec: {checks: [{name: string}]}}", `
- {spoke: .spec.names, hub: .spec.checks, whenToHub: has(object.spec.names), toHub: 'self.map(n, {"name": n})', whenToSpoke: "false", toSpoke: "self.map(c, c.name)"}
- {spoke: .spec.checks, hub: .spec.checks, whenToHub: "!has(object.spec.names)", whenToSpoke: "true"}`)
	alone := two("{spec: {l: [{id: string, both: string}]}}", "{spec: {k: [{id: string, both: string, h: string}]}}",
		"- {spoke: '.spec.l[]', hub: '.spec.k[]'}\n- {hub: '.spec.k[].h'}")
	level := two("{spec: {policy: {level: integer}}}", "{spec: {policy: {level: 'integer = 3', tier: string}}}", "")
	filled := two("{spec: {s: string}}", `{spec: {h: 'string = "a"', k: string, label: string}}`,
		"- {spoke: .spec.s, hub: .spec.h}\n- {spoke: .metadata.labels.label, hub: .spec.label}")
	half := two("{spec: {s: integer, both: string}}", "{spec: {h: string, both: string, k: string, label: string}}", `
- {spoke: .spec.s, hub: .spec.h, toHub: 'string(self) + "%"', toSpoke: 'int(self.replace("%", ""))'}
- {spoke: .metadata.labels.label, hub: .spec.label}`)
	named := two("{spec: {both: string}}", "{spec: {both: string, p: string, label: string}}", `
- {hub: .spec.p, toHub: '"made"'}
- {spoke: .metadata.labels.label, hub: .spec.label}`)
	reads := two("{spec: {l: [{id: string, g: string, v: string}]}}", "{spec: {l: [{id: string}], s: {g: string, v: string}}}", `
- {spoke: '.spec.l[].g', toSpoke: object.spec.s.g}
- {spoke: '.spec.l[].v', toSpoke: 'object.spec.s.?v'}
- {hub: .spec.s.g, toHub: 'object.spec.l[0].g'}
- {hub: .spec.s.v, toHub: 'object.spec.l[0].?v'}`)
	first := two("{spec: {l: [{id: string, v: string}]}}", "{spec: {l: [{id: string}], w: string}}",
		"- {spoke: '.spec.l[0].v', hub: .spec.w}\n- {spoke: '.spec.l[].v', toSpoke: 'object.spec.?w'}")
	hollow := two("{spec: {c: {name: string, s: {timeout: string}}}}", "{spec: {timeout: string, c: {name: string, s: {}}}}", "- {spoke: .spec.c.s.timeout, hub: .spec.timeout}")
	merged := two("{spec: {dex: {image: string}, sso: {dex: {image: string}, keycloak: string}}}", "{spec: {sso: {dex: {image: string}, keycloak: string}}}", `
- {spoke: .spec.dex, hub: .spec.sso.dex, whenToHub: has(object.spec.dex), whenToSpoke: "false"}
- {spoke: .spec.sso.dex, hub: .spec.sso.dex, whenToHub: '!has(object.spec.dex)', whenToSpoke: "true"}`)
	nested := two("{spec: {p: {q: {v: string}}}}", "{spec: {l: [{m: [{v: string}]}]}}",
		"- {spoke: .spec.p, hub: '.spec.l[0]'}\n- {spoke: .spec.p.q, hub: '.spec.l[0].m[0]'}\n- {hub: '.spec.l[0].m[]'}")
	keyed := two("{spec: {p: {name: string}}}", "{spec: {l: [{name: string}, name]}}", "- {spoke: .spec.p, hub: '.spec.l[0]'}")
	whole := two("{spec: {d: {policy: string, after: string, n: string}}}", "{spec: {d: {policy: string, after: string, n: string}}}", `
- spoke: {policy: .spec.d.policy, after: .spec.d.after}
  hub: {policy: .spec.d.policy, after: .spec.d.after}
  toHub: 'self.?policy.orValue("Lazy") == "Lazy" ? {"policy": "Any", "after": "0s"} : {"policy": "Empty", "after": self.?after.orValue("0s")}'
  toSpoke: 'self.?policy.orValue("Any") == "Any" ? {"policy": "Lazy"} : {"policy": "Empty", "after": self.?after.orValue("0s")}'`).
		patched("v1beta1", `properties: {spec: {properties: {d: {default: {policy: Lazy, n: "1"}}}}}`)
	rows{
		"an object is absent whose parts are elsewhere, and the one around it comes": {world: hollow, steps: []step{
			create("v1", `{spec: {timeout: 1m}}`), edit("v1beta1", `{spec: {c: {name: x}}}`), shows("v1", `{spec: {timeout: 1m, c: {name: x}}}`),
		}},
		"an object is absent that shows elsewhere, and the one around it comes": {world: merged, steps: []step{
			create("v1beta1", `{spec: {dex: {image: x}}}`), edit("v1", `{spec: {sso: {keycloak: y}}}`),
			shows("v1beta1", `{spec: {dex: {image: x}, sso: {keycloak: y}}}`),
		}},
		"the first element in a first element is edited, and stays the first": {world: nested, steps: []step{
			create("v1", `{spec: {l: [{m: [{}, {}]}]}}`), edit("v1beta1", `{spec: {p: {q: {v: x}}}}`),
			shows("v1", `{spec: {l: [{m: [{v: x}, {}]}]}}`), shows("v1beta1", `{spec: {p: {q: {v: x}}}}`),
		}},
		"the first element of a list with keys goes, and no other one becomes the first": {world: keyed, steps: []step{
			create("v1", `{spec: {l: [{name: a}, {name: b}]}}`), edit("v1beta1", `{spec: {p: null}}`),
			shows("v1", `{spec: {}}`), shows("v1beta1", `{spec: {}}`),
		}},
		"the first element of a list with keys is another one, and stays the first": {world: keyed, steps: []step{
			create("v1", `{spec: {l: [{name: a}, {name: b}]}}`), edit("v1beta1", `{spec: {p: {name: c}}}`),
			shows("v1", `{spec: {l: [{name: c}, {name: b}]}}`), shows("v1beta1", `{spec: {p: {name: c}}}`),
		}},
		"an object that a default looks like, and an edit of a part": {world: whole, steps: []step{
			create("v1beta1", `{spec: {d: {policy: Lazy, after: 90s, n: "1"}}}`), shows("v1", `{spec: {d: {policy: Any, after: 0s, n: "1"}}}`),
			edit("v1", `{spec: {d: {n: "2"}}}`), shows("v1beta1", `{spec: {d: {policy: Lazy, after: 90s, n: "2"}}}`),
		}},
		"another element comes first, of which expressions read": {world: reads, steps: []step{
			create("v1beta1", `{spec: {l: [{id: a, g: x, v: kept}]}}`), edit("v1", `{spec: {l: [{id: b}], s: {g: z}}}`),
			shows("v1beta1", `{spec: {l: [{id: b, g: z}]}}`),
		}},
		"an element becomes the first, of which rules map a part": {world: first, steps: []step{
			create("v1beta1", `{spec: {l: [{id: a}, {id: b, v: z}]}}`), edit("v1", `{spec: {l: [{id: b}]}}`),
			shows("v1beta1", `{spec: {l: [{id: b}]}}`), shows("v1", `{spec: {l: [{id: b}]}}`),
		}},
		"what was absent in an object that was removed": {world: named, steps: []step{
			create("v1", `{spec: {both: b, label: a}}`), shows("v1", `{spec: {both: b, label: a}}`), edit("v1beta1", `{spec: null}`),
			shows("v1beta1", `{metadata: {labels: {label: a}}}`), shows("v1", `{spec: {label: a, p: made}}`),
		}},
		"an object that was removed, but for a label": {world: half, steps: []step{
			create("v1", `{spec: {k: x, both: b, label: a}}`), edit("v1beta1", `{spec: null}`),
			shows("v1beta1", `{metadata: {labels: {label: a}}}`), shows("v1", `{spec: {label: a}}`),
		}},
		"a default of the other version is absent though its object comes": {world: filled, steps: []step{
			storedAt("v1beta1"), create("v1beta1", `{metadata: {labels: {label: x}}}`), edit("v1", `{spec: {k: x}}`),
			shows("v1beta1", `{metadata: {labels: {label: x}}, spec: {}}`), shows("v1", `{spec: {h: a, k: x, label: x}}`),
		}},
		"an object that was removed does not come with its default": {world: level, steps: []step{
			storedAt("v1beta1"), create("v1beta1", `{spec: {}}`), annotated(map[string]string{"conversion.webhookd.io/v1.spec.policy.tier": `{"value":"iron","in":1}`}),
			shows("v1", `{spec: {policy: {level: 3, tier: iron}}}`), rewritten("v1"), shows("v1beta1", `{spec: {}}`), rewritten("v1"),
			shows("v1beta1", `{spec: {}}`), shows("v1", `{spec: {policy: {level: 3, tier: iron}}}`),
		}},
		"an element is edited, and another one comes behind it": {world: alone, steps: []step{
			create("v1", `{spec: {k: [{both: x, h: kept, id: u1}, {id: u2}]}}`), edit("v1beta1", `{spec: {l: [{both: x, id: u3}, {id: u2}, {id: u4}]}}`),
			shows("v1", `{spec: {k: [{both: x, h: kept, id: u3}, {id: u2}, {id: u4}]}}`),
		}},
		"or before it": {world: alone, steps: []step{
			create("v1", `{spec: {k: [{both: x, h: kept, id: u1}, {id: u2}]}}`), edit("v1beta1", `{spec: {l: [{id: u4}, {both: x, id: u3}, {id: u2}]}}`),
			shows("v1", `{spec: {k: [{id: u4}, {both: x, h: kept, id: u3}, {id: u2}]}}`),
		}},
		"what is kept in an element that an expression makes hides no edit": {world: either, steps: []step{
			storedAt("v1"), create("v1beta1", `{spec: {names: [a], checks: [{name: b}]}}`), annotated(map[string]string{"conversion.webhookd.io/v1beta1.spec.names": ""}),
			shows("v1beta1", `{spec: {checks: [{name: a}]}}`),
		}},
		"what a rule computes in an object is absent though something else of it comes": {world: made, steps: []step{
			create("v1", `{spec: {type: RollingUpdate}}`), edit("v1beta1", `{spec: {type: ReCreate, m: "1"}}`),
			shows("v1", `{spec: {type: RollingUpdate, r: {m: "1"}}}`),
		}},
		"elements that change places take along what was kept of them": {world: swapped, steps: []step{
			create("v1", `{spec: {l: [{id: a, h2: A, w: x}, {id: b, h2: B}]}}`), edit("v1beta1", `{spec: {l: [{id: b, s2: "yes"}, {id: a, s2: "yes"}]}}`),
			shows("v1", `{spec: {l: [{id: b, h2: B}, {id: a, h2: A, w: x}]}}`),
		}},
		"a text that does not convert leaves its neighbour": {world: nearby, steps: []step{
			create("v1", `{spec: {a: {k: a}}}`), edit("v1beta1", `{spec: {ax: x}}`), shows("v1", `{spec: {a: {k: a}}}`),
		}},
		"an element that only one version shows stays in its place": {world: hosts, steps: []step{
			create("v1", `{spec: {hosts: [{name: a}, {name: b}, {k: u}]}}`), edit("v1beta1", `{spec: {hosts: [a]}}`),
			shows("v1", `{spec: {hosts: [{name: a}, {k: u}]}}`),
		}},
		"an element is edited, and another one that looks as it did is not": {world: ports, steps: []step{
			create("v1", `{spec: {ports: [{port: 8080, protocol: UDP}, {port: 8080, protocol: TCP}]}}`), edit("v1beta1", `{spec: {ports: [2, 8080]}}`),
			shows("v1", `{spec: {ports: [{port: 2, protocol: TCP}, {port: 8080, protocol: TCP}]}}`),
		}},
		"an element comes, and a default of the others is no edit": {world: ports, steps: []step{
			create("v1", `{spec: {ports: [{port: 8080, protocol: UDP}, {protocol: UDP}]}}`), edit("v1beta1", `{spec: {ports: [8080, 3]}}`),
			shows("v1", `{spec: {ports: [{port: 8080, protocol: UDP}, {protocol: UDP}, {port: 3, protocol: TCP}]}}`),
		}},
		"an object with a default comes next to the same old value": {world: managed, steps: []step{
			create("v1beta1", `{spec: {all: false}}`), edit("v1", `{spec: {g: {all: false}}}`), shows("v1beta1", `{spec: {g: true, all: false}}`),
			shows("v1", `{spec: {g: {all: false}}}`),
		}},
		"and next to another one, which it hides": {world: managed, steps: []step{
			create("v1beta1", `{spec: {all: true}}`), edit("v1", `{spec: {g: {all: false}}}`), shows("v1beta1", `{spec: {g: true, all: false}}`),
			rewritten("v1beta1"), shows("v1", `{spec: {g: {all: false}}}`),
		}},
	}.hold(t)
}
