package rules_test

import "testing"

// K2: rules and CRDs change while objects are stored. Kept values are not lost, and are seen
// wherever the new rules show them.
func TestGrowthLosesNothing(t *testing.T) {
	t.Parallel()
	growthRows().hold(t)
}

// The hub may change to another version.
func TestTurningTheHubLosesNothing(t *testing.T) {
	t.Parallel()
	turnedRows().hold(t)
}

// Two replicas have different rules for a while.
func TestReplicasOfDifferentAgesLoseNothing(t *testing.T) {
	t.Parallel()
	replicaRows().hold(t)
}

func growthRows() rows {
	owned := two("{spec: {note: string}}", "{spec: {note: string, owner: string}}", "")
	backported := owned.with("v1beta1", "{spec: {owner: string}}")
	ownedOrNone := two("{spec: {note: string}}", `{spec: {note: string, owner: 'string = "none"'}}`, "")
	team := owned.with("v1beta1", "{spec: {team: string}}").by("- {spoke: .spec.team, hub: .spec.owner}")
	timeouts := two("{spec: {note: string, timeout: string}}", "{spec: {note: string, timeoutSeconds: integer}}", "")
	const pair = "- {spoke: .spec.timeout, hub: .spec.timeoutSeconds, codec: DurationSeconds}"
	unit := two("{spec: {f: integer, n: string, p: string}}", "{spec: {g: string, o: integer, q: string}}", `
- {spoke: .spec.f, hub: .spec.g, codec: String, defaultInSpoke: 3}
- {spoke: .spec.n, hub: .spec.o, toHub: int(self), toSpoke: string(self)}
- {spoke: .spec.p, hub: .spec.q, whenToHub: 'object.spec.?n.orValue("") == "A"', whenToSpoke: 'object.spec.?g.orValue("") == "X"'}`)
	return rows{
		"a field that the other version gets": {world: owned, steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(backported), shows("v1", `{spec: {owner: ops}}`),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {owner: ops, note: x}}`), keepsNothing,
		}},
		"next to one that is absent, under one condition": {world: unit, steps: []step{
			storedAt("v1"), create("v1", `{spec: {}}`), annotated(map[string]string{"conversion.webhookd.io/v1beta1.spec.n": `{"value":""}`}),
			shows("v1beta1", `{spec: {f: 3, n: ""}}`), rewritten("v1beta1"), shows("v1", `{spec: {}}`),
		}},
		"under another name": {world: owned, steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(team), shows("v1", `{spec: {owner: ops}}`),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {team: ops, note: x}}`), keepsNothing,
		}},
		"and that it says itself": {world: owned, steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(backported), edit("v1beta1", `{spec: {owner: dev}}`),
			shows("v1", `{spec: {owner: dev}}`), edit("v1", `{spec: {owner: null}}`), shows("v1beta1", `{spec: {}}`), keepsNothing,
		}},
		"with a default in its schema": {world: owned, steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(owned.with("v1beta1", `{spec: {owner: 'string = "none"'}}`)),
			shows("v1", `{spec: {owner: ops}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {owner: ops, note: x}}`),
		}},
		"with a default in both schemas": {world: ownedOrNone, steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(ownedOrNone.with("v1beta1", `{spec: {owner: 'string = "none"'}}`)),
			shows("v1", `{spec: {owner: ops}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {owner: ops, note: x}}`),
		}},
		"with a default in the rule": {world: owned, steps: []step{
			create("v1", `{spec: {owner: ops}}`),
			becomes(backported.by("- {spoke: .spec.owner, hub: .spec.owner, defaultInHub: none}")),
			shows("v1", `{spec: {owner: ops}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {owner: ops, note: x}}`),
		}},
		"with a default, and that it says itself": {world: owned, steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(owned.with("v1beta1", `{spec: {owner: 'string = "none"'}}`)),
			edit("v1beta1", `{spec: {owner: dev}}`), shows("v1", `{spec: {owner: dev}}`),
		}},
		"in elements with a key": {
			world: two("{spec: {ports: [{name: string}, name]}}", "{spec: {ports: [{name: string, protocol: string}, name]}}", ""),
			steps: []step{
				create("v1", `{spec: {ports: [{name: a, protocol: UDP}, {name: b}]}}`),
				becomes(two(`{spec: {ports: [{name: string, protocol: 'string = "TCP"'}, name]}}`,
					"{spec: {ports: [{name: string, protocol: string}, name]}}", "")),
				edit("v1", `{}`), shows("v1beta1", `{spec: {ports: [{name: a, protocol: UDP}, {name: b}]}}`),
			},
		},
		"in elements without one": {
			world: two("{spec: {ports: [{port: integer}]}}", "{spec: {ports: [{port: integer, protocol: string}]}}", ""),
			steps: []step{
				create("v1", `{spec: {ports: [{port: 1, protocol: UDP}, {port: 2}]}}`),
				becomes(two("{spec: {ports: [{port: integer, protocol: string}]}}", "{spec: {ports: [{port: integer, protocol: string}]}}", "")),
				edit("v1", `{}`), shows("v1beta1", `{spec: {ports: [{port: 1, protocol: UDP}, {port: 2}]}}`),
			},
		},
		"a map": {world: two("{spec: {note: string}}", "{spec: {note: string, m: {'*': string}}}", ""), steps: []step{
			create("v1", `{spec: {m: {a: "1", b: "2"}}}`),
			becomes(two("{spec: {note: string, m: {'*': string}}}", "{spec: {note: string, m: {'*': string}}}", "")),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {m: {a: "1", b: "2"}, note: x}}`), keepsNothing,
		}},
		"a part of an object": {world: two("{spec: {note: string}}", "{spec: {note: string, tls: {mode: string, cert: string}}}", ""), steps: []step{
			create("v1", `{spec: {tls: {mode: m, cert: c}}}`),
			becomes(two("{spec: {note: string, tlsMode: string}}", "{spec: {note: string, tls: {mode: string, cert: string}}}",
				"- {spoke: .spec.tlsMode, hub: .spec.tls.mode}")),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {tlsMode: m, note: x}}`),
			edit("v1beta1", `{spec: {tlsMode: n}}`), shows("v1", `{spec: {tls: {mode: n, cert: c}, note: x}}`),
		}},
		"in status": {
			world: two("{spec: {note: string}, status: {ready: boolean}}", "{spec: {note: string}, status: {ready: boolean, phase: string}}", ""),
			steps: []step{
				create("v1", `{spec: {}, status: {ready: true, phase: Up}}`),
				becomes(two("{spec: {note: string}, status: {ready: boolean, phase: string}}", "{spec: {note: string}, status: {ready: boolean, phase: string}}", "")),
				edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {note: x}, status: {ready: true, phase: Up}}`), keepsNothing,
			},
		},

		"a rule in place of Preserve, for what the hub said": {world: timeouts, steps: []step{
			create("v1", `{spec: {timeoutSeconds: 90}}`), becomes(timeouts.by(pair)), shows("v1", `{spec: {timeoutSeconds: 90}}`),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {timeout: 1m30s, note: x}}`), keepsNothing,
		}},
		"and what the other version said": {world: timeouts, steps: []step{
			create("v1beta1", `{spec: {timeout: 90s}}`), becomes(timeouts.by(pair)), shows("v1beta1", `{spec: {timeout: 90s}}`),
			edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {timeoutSeconds: 90, note: x}}`), shows("v1beta1", `{spec: {timeout: 90s, note: x}}`),
		}},
		"and with a default in both schemas": {
			world: two("{spec: {note: string}}", "{spec: {note: string, timeoutSeconds: integer = 30}}", ""), steps: []step{
				create("v1", `{spec: {timeoutSeconds: 90}}`),
				becomes(two(`{spec: {note: string, timeout: 'string = "30s"'}}`, "{spec: {note: string, timeoutSeconds: integer = 30}}", pair)),
				shows("v1", `{spec: {timeoutSeconds: 90}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {timeout: 1m30s, note: x}}`),
			},
		},
		"where both said something, what is stored counts": {world: timeouts, storage: "v1", steps: []step{
			create("v1", `{spec: {timeoutSeconds: 60}}`), edit("v1beta1", `{spec: {timeout: 90s}}`), becomes(timeouts.by(pair)),
			shows("v1", `{spec: {timeoutSeconds: 60}}`), shows("v1beta1", `{spec: {timeout: 1m0s}}`),
		}},
		"a pair in place of one side": {world: owned.by("- {hub: .spec.owner}"), steps: []step{
			create("v1", `{spec: {owner: ops}}`), becomes(team), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {team: ops, note: x}}`),
		}},
	}
}

// modes is a world in which v1beta1 has more values, v1 has a field of its own, and each of two
// texts is several values.
func modes() (hubV1, hubV1beta1 world) {
	schemas := map[string]string{
		"v1beta1": "{spec: {applyMode: enum All None Manual, size: integer, ttl: string, mine: string, note: string}}",
		"v1":      "{spec: {mode: enum Apply Preview, replicas: integer, ttlSeconds: integer, yours: string, note: string}}",
	}
	return world{schemas: schemas, rules: map[string]string{"v1beta1": `
- {spoke: .spec.applyMode, hub: .spec.mode, values: {All: Apply, None: Preview, Manual: Preview}}
- {spoke: .spec.size, hub: .spec.replicas}
- {spoke: .spec.ttl, hub: .spec.ttlSeconds, codec: DurationSeconds}`}}, world{hub: "v1beta1", schemas: schemas, rules: map[string]string{"v1": `
- {spoke: .spec.mode, hub: .spec.applyMode, values: {Apply: All, Preview: None}, hubValues: {Manual: Preview}}
- {spoke: .spec.replicas, hub: .spec.size}
- {spoke: .spec.ttlSeconds, hub: .spec.ttl, codec: DurationSeconds}`}}
}

// relays is a world of three versions, like that of test/e2e/scenario.
func relays() (hubV1, hubV1beta1 world) {
	schemas := map[string]string{
		"v1alpha1": "{spec: {mode: enum all none manual, size: integer, note: string, image: string}}",
		"v1beta1":  "{spec: {applyMode: enum Always Dry, size: integer, image: string}}",
		"v1":       "{spec: {policy: enum Apply Preview, replicas: integer, limits: {burst: integer}, image: string}}",
	}
	const rename = "\n- {spoke: .spec.size, hub: .spec.replicas}"
	hubV1 = world{schemas: schemas, rules: map[string]string{
		"v1alpha1": "- {spoke: .spec.mode, hub: .spec.policy, values: {all: Apply, none: Preview, manual: Preview}}" + rename,
		"v1beta1":  "- {spoke: .spec.applyMode, hub: .spec.policy, values: {Always: Apply, Dry: Preview}}" + rename,
	}}
	hubV1beta1 = world{hub: "v1beta1", schemas: schemas, rules: map[string]string{
		"v1alpha1": "- {spoke: .spec.mode, hub: .spec.applyMode, values: {all: Always, none: Dry, manual: Dry}}",
		"v1": "- {spoke: .spec.policy, hub: .spec.applyMode, values: {Apply: Always, Preview: Dry}}\n" +
			"- {spoke: .spec.replicas, hub: .spec.size}",
	}}
	return hubV1, hubV1beta1
}

func turnedRows() rows {
	const beta, v1 = `{spec: {applyMode: Manual, ttl: 90s, mine: m, size: 1}}`, `{spec: {yours: y}}`
	const all = `{spec: {applyMode: Manual, ttl: 90s, mine: m, size: 1, note: x}}`
	older, newer := modes()
	relay, turnedRelay := relays()
	const alpha, burst = `{spec: {mode: none, note: mine, size: 2}}`, `{spec: {limits: {burst: 5}}}`
	return rows{
		"nothing is edited": {world: older, steps: []step{
			create("v1beta1", beta), edit("v1", v1), becomes(newer), shows("v1beta1", beta),
			shows("v1", `{spec: {mode: Preview, ttlSeconds: 90, replicas: 1, yours: y}}`),
		}},
		"another field is edited": {world: older, steps: []step{
			create("v1beta1", beta), edit("v1", v1), becomes(newer), edit("v1", `{spec: {note: x}}`), shows("v1beta1", all),
			edit("v1beta1", `{spec: {note: z}}`), shows("v1", `{spec: {mode: Preview, ttlSeconds: 90, replicas: 1, yours: y, note: z}}`),
		}},
		"a field is edited that more was kept of": {world: older, steps: []step{
			create("v1beta1", beta), becomes(newer), edit("v1", `{spec: {mode: Apply, ttlSeconds: 60}}`),
			shows("v1beta1", `{spec: {applyMode: All, ttl: 1m0s, mine: m, size: 1}}`),
		}},
		"and turned back": {world: older, steps: []step{
			create("v1beta1", beta), edit("v1", v1), becomes(newer), edit("v1", `{spec: {note: x}}`), becomes(older),
			shows("v1beta1", all), shows("v1", `{spec: {mode: Preview, ttlSeconds: 90, replicas: 1, yours: y, note: x}}`),
		}},
		"and another version is stored": {world: older, storage: "v1", steps: []step{
			create("v1beta1", beta), edit("v1", v1), becomes(newer), storedAt("v1beta1"), rewritten("v1"), shows("v1beta1", beta),
			becomes(older), storedAt("v1"), rewritten("v1beta1"), shows("v1", `{spec: {mode: Preview, ttlSeconds: 90, replicas: 1, yours: y}}`),
			shows("v1beta1", beta),
		}},
		"of three versions, where several values of the third have become one at the former hub": {world: relay, storage: "v1", steps: []step{
			create("v1alpha1", `{spec: {mode: manual}}`), becomes(turnedRelay), shows("v1alpha1", `{spec: {mode: none}}`),
		}},
		"of three versions": {world: relay, steps: []step{
			create("v1alpha1", alpha), edit("v1", burst), becomes(turnedRelay), shows("v1alpha1", alpha),
			shows("v1", `{spec: {policy: Preview, replicas: 2, limits: {burst: 5}}}`), shows("v1beta1", `{spec: {applyMode: Dry, size: 2}}`),
		}},
		"of three versions, and each of them is written": {world: relay, steps: []step{
			create("v1alpha1", alpha), edit("v1", burst), becomes(turnedRelay), edit("v1", `{spec: {image: a}}`),
			edit("v1beta1", `{spec: {image: b}}`), edit("v1alpha1", `{spec: {image: c}}`),
			shows("v1alpha1", `{spec: {mode: none, note: mine, size: 2, image: c}}`),
			shows("v1", `{spec: {policy: Preview, replicas: 2, limits: {burst: 5}, image: c}}`),
			edit("v1", `{spec: {policy: Apply}}`), shows("v1alpha1", `{spec: {mode: all, note: mine, size: 2, image: c}}`),
		}},
		"of three versions, and turned back": {world: turnedRelay, steps: []step{
			create("v1alpha1", alpha), edit("v1", burst), becomes(relay), edit("v1beta1", `{spec: {image: b}}`),
			shows("v1alpha1", `{spec: {mode: none, note: mine, size: 2, image: b}}`),
			shows("v1", `{spec: {policy: Preview, replicas: 2, limits: {burst: 5}, image: b}}`),
		}},
	}
}

func replicaRows() rows {
	older := two("{spec: {note: string, timeout: string}}", "{spec: {note: string, timeoutSeconds: integer}}", "")
	newer := older.by("- {spoke: .spec.timeout, hub: .spec.timeoutSeconds, codec: DurationSeconds}")
	lacks := two("{spec: {note: string}}", "{spec: {note: string, owner: string}}", "")
	has := lacks.with("v1beta1", "{spec: {owner: string}}")
	return rows{
		"rules that one of them lacks, written at both versions": {world: older, steps: []step{
			create("v1", `{spec: {timeoutSeconds: 90}}`),
			webhookdHas(newer), edit("v1", `{spec: {note: a}}`), webhookdHas(older), edit("v1beta1", `{spec: {note: b}}`),
			edit("v1", `{spec: {note: c}}`), webhookdHas(newer), edit("v1beta1", `{spec: {note: d}}`),
			webhookdHas(older), edit("v1", `{spec: {note: e}}`), webhookdHas(newer),
			shows("v1", `{spec: {timeoutSeconds: 90, note: e}}`), shows("v1beta1", `{spec: {timeout: 1m30s, note: e}}`),
		}},
		"rules that one of them lacks, where the other version said it": {world: older, steps: []step{
			create("v1beta1", `{spec: {timeout: 1m30s}}`),
			webhookdHas(newer), edit("v1beta1", `{spec: {note: a}}`), webhookdHas(older), edit("v1beta1", `{spec: {note: b}}`),
			webhookdHas(newer), edit("v1beta1", `{spec: {note: c}}`),
			shows("v1beta1", `{spec: {timeout: 1m30s, note: c}}`), shows("v1", `{spec: {timeoutSeconds: 90, note: c}}`),
		}},
		"read by the one and written by the other": {world: older, storage: "v1beta1", steps: []step{
			create("v1", `{spec: {timeoutSeconds: 90}}`),
			webhookdHas(newer), rewritten("v1"), editedAcross("v1", `{spec: {note: a}}`, newer, older),
			editedAcross("v1", `{spec: {note: b}}`, older, newer), editedAcross("v1", `{spec: {note: c}}`, newer, older), webhookdHas(newer),
			shows("v1", `{spec: {timeoutSeconds: 90, note: c}}`),
		}},
		"a field that one of them does not know at the other version": {world: lacks, steps: []step{
			create("v1", `{spec: {owner: ops}}`), clusterHas(has),
			webhookdHas(has), edit("v1", `{spec: {note: a}}`), webhookdHas(lacks), edit("v1beta1", `{spec: {note: b}}`),
			edit("v1", `{spec: {note: c}}`), webhookdHas(has), edit("v1beta1", `{spec: {note: d}}`),
			webhookdHas(lacks), edit("v1", `{spec: {note: e}}`), webhookdHas(has), rewritten("v1"),
			shows("v1", `{spec: {owner: ops, note: e}}`), shows("v1beta1", `{spec: {owner: ops, note: e}}`),
		}},
	}
}

// editedAcross is an edit of a user for whom one replica converts the read and another the write.
func editedAcross(version, patch string, reader, writer world) step {
	return func(w *walk) {
		w.t.Helper()
		webhookdHas(reader)(w)
		obj := w.read(version)
		mergePatch(obj, fromYAML(w.t, patch))
		webhookdHas(writer)(w)
		w.write(version, obj)
	}
}
