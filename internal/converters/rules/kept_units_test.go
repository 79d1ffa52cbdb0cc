package rules_test

import (
	"strings"
	"testing"
)

// A unit is what rules share, and what their expressions and conditions read, however they say it.
// An edit of any of it is an edit of all; an edit of something else is not.
func TestUnitsAreWhatExpressionsRead(t *testing.T) {
	t.Parallel()
	const field, entry = `type: HTTP`, `m: {type: HTTP}`
	for name, test := range map[string]struct {
		reads string // a condition that is true of a Git
		says  string // where the object says what it is
		whole bool   // it may read anything, so that an edit next to it may count
	}{
		"a field":                  {`object.spec.?type.orValue("Git") == "Git"`, field, false},
		"a field of one of two":    {`(true ? object : object).spec.?type.orValue("Git") == "Git"`, field, false},
		"a variable":               {`[object].all(o, o.spec.?type.orValue("Git") == "Git")`, field, false},
		"a variable of a variable": {`[object.spec].map(s, s.?type).all(t, t.orValue("Git") == "Git")`, field, false},
		"one that hides another":   {`[object.spec].all(object, object.?type.orValue("Git") == "Git")`, field, false},
		"an optional variable":     {`object.?spec.?type.optMap(t, t == "Git").orValue(true)`, field, false},
		"an entry":                 {`object.spec.?m["type"].orValue("Git") == "Git"`, entry, false},
		"an entry of a variable":   {`[object.spec].all(s, s.?m["type"].orValue("Git") == "Git")`, entry, false},
		"an entry that is computed": {
			`object.spec.?m["ty" + "pe"].orValue("Git") == "Git"`, entry, true,
		},
		"each entry":           {`!has(object.spec.m) || object.spec.m.all(k, v, k != "type" || v == "Git")`, entry, false},
		"each key":             {`!has(object.spec.m) || object.spec.m.all(k, k != "type" || object.spec.m[k] == "Git")`, entry, false},
		"all of an object":     {`!(dyn(object.spec) == {"type": "HTTP", "http": "b.git"})`, field, true},
		"all of it, unchecked": {`dyn(object).spec.?type.orValue("Git") == "Git"`, field, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := discriminated(test.reads)
			odd := `{spec: {` + test.says + `, http: b.git}}`
			all := rows{"an edit of the other place": {world: w, steps: []step{
				create("v1", odd), edit("v1beta1", `{spec: {url: c.git}}`), shows("v1", `{spec: {git: c.git}}`),
			}}}
			if !test.whole {
				all["an edit next to them"] = row{world: w, steps: []step{
					create("v1", odd), edit("v1beta1", `{spec: {note: x}}`),
					shows("v1", `{spec: {`+test.says+`, http: b.git, note: x}}`),
				}}
			}
			all.hold(t)
		})
	}
}

// discriminated is a world in which only a condition reads the discriminator, which v1beta1 does
// not have.
func discriminated(isGit string) world {
	isGit = strings.ReplaceAll(isGit, "'", "''")
	return two("{spec: {url: string, note: string}}",
		"{spec: {type: string, m: {'*': string}, git: string, http: string, note: string}}", `
- {spoke: .spec.url, hub: .spec.git, whenToHub: self.endsWith(".git"), whenToSpoke: '`+isGit+`'}
- {spoke: .spec.url, hub: .spec.http, whenToHub: '!self.endsWith(".git")', whenToSpoke: '!(`+isGit+`)'}`)
}

// has(p) reads whether p exists, but not its content.
func TestPresenceIsAllThatHasReads(t *testing.T) {
	t.Parallel()
	guarded := two("{spec: {mode: enum A B, box: {size: integer, more: {x: string}}}}", "{spec: {mode: enum X Y, box: {size: integer, more: {x: string}}}}",
		`- {spoke: .spec.mode, hub: .spec.mode, values: {A: X, B: X}, whenToHub: has(object.spec.box), whenToSpoke: has(object.spec.box)}`)
	computed := two("{spec: {box: {size: integer, more: {x: string}}}}", "{spec: {kind: string, box: {size: integer, more: {x: string}}}}",
		`- {hub: .spec.kind, toHub: 'has(object.spec.box) ? "Boxed" : "Plain"'}`)
	rows{
		"a guard, and an edit in what is there": {world: guarded, steps: []step{
			create("v1beta1", `{spec: {mode: B, box: {size: 1}}}`), edit("v1", `{spec: {box: {size: 2, more: {x: y}}}}`),
			shows("v1beta1", `{spec: {mode: B, box: {size: 2, more: {x: y}}}}`),
		}},
		"a guard, and what was there is emptied": {world: guarded, steps: []step{
			create("v1beta1", `{spec: {mode: B, box: {size: 1}}}`), edit("v1", `{spec: {box: {size: null}}}`),
			shows("v1beta1", `{spec: {mode: B, box: {}}}`),
		}},
		"a computed value, and an edit in what is there": {world: computed, steps: []step{
			create("v1", `{spec: {kind: Crate, box: {size: 1}}}`), edit("v1beta1", `{spec: {box: {size: 2, more: {x: y}}}}`),
			shows("v1", `{spec: {kind: Crate, box: {size: 2, more: {x: y}}}}`),
		}},
		"a computed value, and what was there goes": {world: computed, steps: []step{
			create("v1", `{spec: {kind: Crate, box: {size: 1}}}`), edit("v1beta1", `{spec: {box: null}}`),
			shows("v1", `{spec: {kind: Plain}}`),
		}},
		"a computed value, and something comes": {world: computed, steps: []step{
			create("v1", `{spec: {kind: Crate}}`), edit("v1beta1", `{spec: {box: {size: 1}}}`),
			shows("v1", `{spec: {kind: Boxed, box: {size: 1}}}`),
		}},
	}.hold(t)
}

// Users write spec and controllers write status. If a rule reads one of them for the other, an edit
// of the first is not an edit of the second.
func TestSpecAndStatusAreNeverOneUnit(t *testing.T) {
	t.Parallel()
	up := two("{spec: {replicas: integer}, status: {ready: integer}}", "{spec: {replicas: integer}, status: {phase: string, ready: integer}}",
		`- {hub: .status.phase, toHub: 'object.spec.replicas > 0 ? "Running" : "Stopped"'}`)
	down := two("{spec: {size: integer}, status: {ready: integer}}", "{spec: {size: integer, weight: integer}, status: {ready: integer}}",
		`- {hub: .spec.weight, toHub: 'object.status.ready > 0 ? 100 : 0'}`)
	both := two("{spec: {mode: enum A B C}, status: {mode: enum A B C, n: integer}}",
		"{spec: {mode: enum X Y}, status: {mode: enum X Y, n: integer}}", `
- {spoke: .spec.mode, hub: .spec.mode, values: {A: X, B: X, C: Y}, whenToHub: 'object.status.?n.orValue(0) < 100', whenToSpoke: 'object.?status.?n.orValue(0) < 100'}
- {spoke: .status.mode, hub: .status.mode, values: {A: X, B: X, C: Y}}`)
	rows{
		"status that is computed of spec is not written by an edit of that": {world: up, steps: []step{
			create("v1", `{spec: {replicas: 1}, status: {phase: Failed}}`), edit("v1beta1", `{spec: {replicas: 2}}`),
			shows("v1", `{spec: {replicas: 2}, status: {phase: Failed}}`),
		}},
		"unless it is computed to be another one": {world: up, steps: []step{
			create("v1", `{spec: {replicas: 1}, status: {phase: Failed}}`), edit("v1beta1", `{spec: {replicas: 0}}`),
			shows("v1", `{spec: {replicas: 0}, status: {phase: Stopped}}`),
		}},
		"spec that is computed of status is not written by a controller": {world: down, steps: []step{
			create("v1", `{spec: {size: 1, weight: 50}, status: {ready: 1}}`), edit("v1beta1", `{status: {ready: 2}}`),
			shows("v1", `{spec: {size: 1, weight: 50}, status: {ready: 2}}`),
		}},
		"a condition that reads status does not make spec a part of that": {world: both, steps: []step{
			create("v1beta1", `{spec: {mode: B}, status: {mode: B, n: 1}}`), edit("v1", `{status: {n: 2}}`),
			shows("v1beta1", `{spec: {mode: B}, status: {mode: B, n: 2}}`),
			edit("v1", `{status: {mode: Y}}`), shows("v1beta1", `{spec: {mode: B}, status: {mode: C, n: 2}}`),
			edit("v1", `{spec: {mode: Y}}`), shows("v1beta1", `{spec: {mode: C}, status: {mode: C, n: 2}}`),
		}},
	}.hold(t)
}

// If another rule takes the name of a place in the other version, the two are unrelated.
func TestAPlaceIsNotWhatHasItsName(t *testing.T) {
	t.Parallel()
	whole := two("{spec: {a: string, b: string, note: string}}", "{spec: {a: string, note: string}}", "- {spoke: .spec.b, hub: .spec.a}")
	part := two("{spec: {a: {x: string, y: string}, b: {x: string, y: string}, note: string}}", "{spec: {a: {x: string, y: string}, z: string, note: string}}",
		"- {spoke: .spec.b, hub: .spec.a}\n- {spoke: .spec.a.x, hub: .spec.z}")
	computed := two("{spec: {a: string, note: string}}", "{spec: {a: string, note: string}}",
		`- {hub: .spec.a, toHub: 'object.?spec.note'}`)
	rows{
		"an edit of that is none of it": {world: whole, steps: []step{
			create("v1beta1", `{spec: {a: x, b: y}}`), shows("v1", `{spec: {a: y}}`), edit("v1", `{spec: {a: z}}`),
			shows("v1beta1", `{spec: {a: x, b: z}}`),
		}},
		"nor one of a part": {world: part, steps: []step{
			create("v1beta1", `{spec: {a: {x: m, y: n}, b: {x: o, y: p}}}`), shows("v1", `{spec: {z: m, a: {x: o, y: p}}}`),
			edit("v1", `{spec: {a: {y: q}}}`), shows("v1beta1", `{spec: {a: {x: m, y: n}, b: {x: o, y: q}}}`),
		}},
		"and a part returns without the others": {world: part, steps: []step{
			create("v1beta1", `{spec: {a: {x: m, y: n}}}`), edit("v1", `{spec: {z: null}}`), shows("v1beta1", `{spec: {a: {y: n}}}`),
		}},
		"nor is one of what is computed": {world: computed, steps: []step{
			create("v1beta1", `{spec: {a: x, note: m}}`), shows("v1", `{spec: {a: m, note: m}}`), edit("v1", `{spec: {note: n, a: n}}`),
			shows("v1beta1", `{spec: {a: x, note: n}}`),
		}},
	}.hold(t)
}
