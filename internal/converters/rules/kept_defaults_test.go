package rules_test

import (
	"fmt"
	"strings"
	"testing"
)

// Defaults of rules and schemas are distinguished from the same values that a user wrote.
func TestDefaultsHideNoEdit(t *testing.T) {
	t.Parallel()
	defaultRows().hold(t)
}

// A value that cannot be converted is kept, whatever the reason.
func TestLimitsLoseNothing(t *testing.T) {
	t.Parallel()
	limitRows().hold(t)
}

func defaultRows() rows {
	const schema = "{spec: {note: string, strategy: {type: string, surge: integer}}}"
	within := func(key string) world {
		return two(schema, schema, "- {spoke: .spec.strategy, hub: .spec.strategy, "+key+": {type: RollingUpdate, surge: 1}}\n"+
			"- {spoke: .spec.strategy.type, hub: .spec.strategy.type, defaultInHub: RollingUpdate}")
	}
	decides := two("{spec: {note: string, mode: 'string = \"a\"', b: string}}", "{spec: {note: string, m: string}}",
		"- {spoke: .spec.mode}\n- {spoke: .spec.b, hub: .spec.m, whenToHub: 'object.?spec.?mode.orValue(\"\") != \"a\"'}")
	const whole, part = `{spec: {strategy: {type: RollingUpdate, surge: 1}}}`, `{spec: {strategy: {type: RollingUpdate}}}`
	port := two("{spec: {host: string, port: integer}}", "{spec: {host: string, port: string}}",
		`- {spoke: .spec.port, hub: .spec.port, codec: String, defaultInHub: "80"}`)
	sizes := two("{spec: {note: string, l: [{name: string}, name]}}", "{spec: {note: string, size: integer = 1, box: {a: integer = 1, b: string}, l: [{name: string, a: integer = 1}, name]}}", "")
	apart := func(beta, v1 string) world {
		return two("{spec: {note: string, mode: "+beta+"}}", "{spec: {note: string, mode: "+v1+"}}", "- {spoke: .spec.mode}\n- {hub: .spec.mode}")
	}
	modes := apart("'string = \"a\"'", "'string = \"b\"'")
	return rows{
		"a value of one version is kept, though another field of that name has it as default": {world: modes, steps: []step{
			create("v1", `{spec: {mode: a}}`), shows("v1beta1", `{spec: {mode: a}}`), edit("v1beta1", `{spec: {mode: c}}`),
			shows("v1", `{spec: {mode: a}}`), shows("v1beta1", `{spec: {mode: c}}`),
		}},
		"and one of the spoke": {world: modes, steps: []step{
			create("v1beta1", `{spec: {mode: b}}`), shows("v1", `{spec: {mode: b}}`), edit("v1", `{spec: {note: x, mode: a}}`),
			shows("v1beta1", `{spec: {note: x, mode: b}}`), shows("v1", `{spec: {note: x, mode: a}}`),
		}},
		"and one of an object, where the other version has a text": {world: apart("{size: integer = 1, unit: string}", "string"), steps: []step{
			create("v1beta1", `{spec: {mode: {size: 2, unit: m}}}`), edit("v1", `{spec: {mode: x}}`), edit("v1beta1", `{spec: {mode: {unit: null}}}`),
			shows("v1", `{spec: {mode: x}}`), shows("v1beta1", `{spec: {mode: {size: 2}}}`),
		}},

		"a condition reads a default of its version only": {world: decides, steps: []step{
			create("v1", `{metadata: {uid: u}, spec: {m: x}}`), shows("v1", `{metadata: {uid: u}, spec: {m: x}}`), edit("v1beta1", `{spec: {note: y}}`),
			shows("v1", `{metadata: {uid: u}, spec: {note: y, m: x}}`), edit("v1beta1", `{spec: {mode: c}}`), shows("v1", `{metadata: {uid: u}, spec: {note: y, m: x}}`),
		}},
		"and what a user writes there is not hidden": {world: decides, steps: []step{
			create("v1beta1", `{metadata: {uid: u}, spec: {mode: c, b: x}}`), shows("v1", `{metadata: {uid: u}, spec: {m: x}}`), edit("v1beta1", `{spec: {mode: a}}`),
			shows("v1", `{metadata: {uid: u}, spec: {}}`), shows("v1beta1", `{metadata: {uid: u}, spec: {mode: a, b: x}}`),
		}},

		"a default that fills in an object stays one until an edit": {world: within("defaultInSpoke"), steps: []step{
			create("v1", `{spec: {}}`), shows("v1beta1", whole), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x}}`),
		}},
		"a removal in an object that a default filled in is seen": {world: within("defaultInSpoke"), steps: []step{
			create("v1", `{spec: {}}`), edit("v1beta1", `{spec: {strategy: {surge: null}}}`), shows("v1beta1", part),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {note: x, strategy: {type: RollingUpdate}}}`),
		}},
		"and one of what another default would fill in": {world: within("defaultInSpoke"), steps: []step{
			create("v1", `{spec: {}}`), edit("v1beta1", `{spec: {strategy: {type: null}}}`), shows("v1beta1", `{spec: {strategy: {surge: 1}}}`),
		}},
		"and a value in it": {world: within("defaultInSpoke"), steps: []step{
			create("v1", `{spec: {}}`), edit("v1beta1", `{spec: {strategy: {surge: 2}}}`),
			shows("v1", `{spec: {strategy: {type: RollingUpdate, surge: 2}}}`),
		}},
		"a removal at the hub in an object that a default filled in there is seen": {world: within("defaultInHub"), steps: []step{
			create("v1beta1", `{spec: {}}`), edit("v1", `{spec: {strategy: {surge: null}}}`), shows("v1", part),
			edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x, strategy: {type: RollingUpdate}}}`),
		}},
		"and a value in it there": {world: within("defaultInHub"), steps: []step{
			create("v1beta1", `{spec: {}}`), edit("v1", `{spec: {strategy: {surge: 2}}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {note: x, strategy: {type: RollingUpdate, surge: 2}}}`),
		}},

		"what was absent stays absent while the default is what it was": {world: port, steps: []step{
			create("v1beta1", `{spec: {host: a}}`), edit("v1", `{spec: {host: b}}`), shows("v1beta1", `{spec: {host: b}}`),
			shows("v1", `{spec: {host: b, port: "80"}}`), edit("v1", `{spec: {port: "81"}}`), shows("v1beta1", `{spec: {host: b, port: 81}}`),
		}},
		"what was absent gives way to a default of the schema": {
			world: two("{spec: {host: string, port: integer}}", `{spec: {host: string, port: 'string = "80"'}}`,
				`- {spoke: .spec.port, hub: .spec.port, codec: String, defaultInHub: "80"}`),
			steps: []step{
				create("v1beta1", `{spec: {host: a}}`), shows("v1beta1", `{spec: {host: a}}`), edit("v1", `{spec: {port: "81"}}`),
				shows("v1beta1", `{spec: {host: a, port: 81}}`), edit("v1beta1", `{spec: {host: b}}`), shows("v1", `{spec: {host: b, port: "81"}}`),
			},
		},
		"what was absent is absent still after an edit and its undoing": {world: port, steps: []step{
			create("v1beta1", `{spec: {host: a}}`), edit("v1", `{spec: {port: "81"}}`), edit("v1beta1", `{spec: {port: null}}`),
			shows("v1", `{spec: {host: a, port: "80"}}`), shows("v1beta1", `{spec: {host: a}}`),
		}},

		"what the schema fills in is not kept": {world: sizes, steps: []step{
			create("v1", `{spec: {note: x}}`), keepsNothing, shows("v1", `{spec: {note: x, size: 1}}`),
		}},
		"what is written as the schema would fill it in is not kept, either": {world: sizes, steps: []step{
			create("v1", `{spec: {note: x, size: 1, l: [{name: n, a: 1}]}}`), keepsNothing,
			shows("v1", `{spec: {note: x, size: 1, l: [{name: n, a: 1}]}}`),
		}},
		"what is next to it is kept": {world: sizes, steps: []step{
			create("v1", `{spec: {size: 2, box: {b: x}, l: [{name: n, a: 2}, {name: m}]}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {note: x, size: 2, box: {a: 1, b: x}, l: [{name: n, a: 2}, {name: m, a: 1}]}}`),
		}},
		"an object that is all defaults is kept": {world: sizes, steps: []step{
			create("v1", `{spec: {box: {}}}`), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x, size: 1, box: {a: 1}}}`),
		}},
	}
}

func limitRows() rows {
	seconds := two("{spec: {note: string, timeout: string}}", "{spec: {note: string, timeoutSeconds: integer}}",
		"- {spoke: .spec.timeout, hub: .spec.timeoutSeconds, codec: DurationSeconds}")
	all := rows{}
	for _, n := range []string{"9223372037", "-9223372037", "9223372036854775807", "-9223372036854775808"} {
		all[n+" seconds, which Go cannot read"] = row{world: seconds, steps: []step{
			create("v1", `{spec: {timeoutSeconds: `+n+`}}`), shows("v1beta1", `{spec: {}}`),
			edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x, timeoutSeconds: `+n+`}}`),
			edit("v1beta1", `{spec: {timeout: 1h0m0s}}`), shows("v1", `{spec: {note: x, timeoutSeconds: 3600}}`),
		}}
	}
	for _, text := range []string{"9223372037s", "2562047h47m17s", "9999999999h", "9223372036.9s"} {
		all[text+", which Go cannot read"] = row{world: seconds, steps: []step{
			create("v1beta1", `{spec: {timeout: `+text+`}}`), shows("v1", `{spec: {}}`),
			edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {note: x, timeout: `+text+`}}`),
			edit("v1", `{spec: {timeoutSeconds: 60}}`), shows("v1beta1", `{spec: {note: x, timeout: 1m0s}}`),
		}}
	}
	for _, n := range []string{"9223372036", "-9223372036", "0"} {
		all[n+" seconds, which Go can read"] = row{world: seconds, steps: []step{
			create("v1", `{spec: {timeoutSeconds: `+n+`}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {note: x, timeoutSeconds: `+n+`}}`), edit("v1", `{spec: {note: z}}`), keepsNothing,
		}}
	}
	for kind, key := range map[string]string{"with keys": ", name", "without keys": ""} {
		costly := costlyWorld(key)
		all["a cost limit in the middle of a list "+kind] = row{world: costly, steps: []step{
			create("v1beta1", elements(150, "a: XY")), allOrNothing("v1", "b"), edit("v1", `{spec: {note: x}}`), shows("v1beta1", elements(150, "a: XY", "note: x")),
		}}
		all["when the first of them goes "+kind] = row{world: costly, steps: []step{
			create("v1beta1", elements(150, "a: XY")), editList("v1", func(list []any) []any { return list[1:] }),
			elementsSay("v1beta1", "a", "XY", 149),
		}}
		all["when one comes before them "+kind] = row{world: costly, steps: []step{
			create("v1beta1", elements(150, "a: XY")),
			editList("v1", func(list []any) []any { return append([]any{map[string]any{"name": "new"}}, list...) }),
			elementsSay("v1beta1", "a", "XY", 150),
		}}
		all["of a list that has grown "+kind] = row{world: costly, steps: []step{
			create("v1beta1", elements(90, "a: XY")), edit("v1", elements(150, "b: xy")), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", elements(150, "b: xy", "note: x")),
		}, storage: "v1"}
		all["and what only one version has in it "+kind] = row{world: costly, steps: []step{
			create("v1", elements(150, "b: xy, only: o")), allOrNothing("v1beta1", "a"), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", elements(150, "b: xy, only: o", "note: x")),
		}}
	}
	return all
}

// costlyWorld is a world in which the expressions of 100 elements reach the cost limit of an
// object.
func costlyWorld(key string) world {
	costly := `"` + strings.Repeat("a", 10_000) + `".contains("` + strings.Repeat("b", 1000) + `") ? ""`
	return two("{spec: {note: string, l: [{name: string, a: string}"+key+"]}}",
		"{spec: {note: string, l: [{name: string, b: string, only: string}"+key+"]}}",
		`- {spoke: '.spec.l[].a', hub: '.spec.l[].b', toHub: '`+costly+` : self.lowerAscii()', toSpoke: '`+costly+` : self.upperAscii()'}`)
}

func elements(n int, fields string, others ...string) string {
	list := make([]string, 0, n)
	for i := range n {
		list = append(list, fmt.Sprintf("{name: n%d, %s}", i, fields))
	}
	return `{spec: {` + strings.Join(append(others, "l: ["+strings.Join(list, ", ")+"]"), ", ") + `}}`
}

// editList changes .spec.l as a user reads it at a version.
func editList(version string, change func(list []any) []any) step {
	return func(w *walk) {
		w.t.Helper()
		obj := w.read(version)
		list, _ := childOf(obj, "spec")["l"].([]any)
		childOf(obj, "spec")["l"] = change(list)
		w.write(version, obj)
	}
}

// elementsSay checks that n elements have a value of a field at a version.
func elementsSay(version, field, value string, want int) step {
	return func(w *walk) {
		w.t.Helper()
		list, _ := childOf(w.read(version), "spec")["l"].([]any)
		has := 0
		for _, e := range list {
			if e, _ := e.(map[string]any); e[field] == value {
				has++
			}
		}
		if has != want {
			w.t.Fatalf("step %d: %d of %d elements have .%s %s at %s, want %d", w.at, has, len(list), field, value, version, want)
		}
	}
}

// allOrNothing checks that either all elements have a field at a version, or none.
func allOrNothing(version, field string) step {
	return func(w *walk) {
		w.t.Helper()
		list, _ := childOf(w.read(version), "spec")["l"].([]any)
		has := 0
		for _, e := range list {
			if e, _ := e.(map[string]any); e[field] != nil {
				has++
			}
		}
		if has != 0 && has != len(list) {
			w.t.Fatalf("step %d: %d of %d elements have a .%s at %s, want all or none", w.at, has, len(list), field, version)
		}
	}
}
