package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// K7: what only one version has of an element never moves to another element.
func TestElementsKeepTheirOwn(t *testing.T) {
	t.Parallel()
	listRows().hold(t)
}

// Writes at the stored version call no webhook. The consequences, which
// docs/explanation/losslessness.md explains, are the same each time.
func TestWhatIsWrittenBehindOurBackIsTakenForWhatItLooksLike(t *testing.T) {
	t.Parallel()
	abaRows().hold(t)
}

// Lists that are many levels deep are kept as a whole.
func TestDeepListsLoseNothing(t *testing.T) {
	t.Parallel()
	const levels = 12
	before, after := strings.Repeat("[", levels), strings.Repeat("]", levels)
	w := two("{spec: {l: "+before+"{a: string}"+after+", x: string}}", "{spec: {l: "+before+"{a: string, b: string}"+after+", x: string}}", "")
	rows{"and next to an edit": {world: w, steps: []step{
		create("v1", `{spec: {l: `+before+`{a: "1", b: "2"}`+after+`}}`), edit("v1beta1", `{spec: {x: y}}`),
		shows("v1", `{spec: {x: y, l: `+before+`{a: "1", b: "2"}`+after+`}}`),
	}}}.hold(t)
}

// acl is a list without keys, whose elements have one more field in v1.
func acl() world {
	const beta = "cidr: string, action: string, port: integer, note: string"
	return two("{spec: {l: [{"+beta+"}], x: string}}", "{spec: {l: [{"+beta+", privileged: boolean}], x: string}}", "")
}

// containers is a list with keys.
func containers() world {
	const beta = "name: string, image: string, args: [string]"
	return two("{spec: {l: [{"+beta+"}, name], x: string}}", "{spec: {l: [{"+beta+", privileged: boolean, security: {user: integer}}, name], x: string}}", "")
}

func listRows() rows {
	// Each row writes a list at v1, then one at v1beta1, and reads it at v1.
	lists := func(w world, v1, beta, want string) row {
		return row{world: w, steps: []step{
			create("v1", `{spec: {l: [`+v1+`]}}`), edit("v1beta1", `{spec: {l: [`+beta+`]}}`), shows("v1", `{spec: {l: [`+want+`]}}`),
			edit("v1beta1", `{spec: {x: y}}`), shows("v1", `{spec: {x: y, l: [`+want+`]}}`),
		}}
	}
	const ten, eleven, zero = `cidr: 10/8, action: allow, port: 1`, `cidr: 11/8, action: allow, port: 2`, `cidr: 0/0, action: deny, port: 9`
	const p = `, privileged: true`
	all := rows{
		"without keys, another element": lists(acl(), `{`+ten+p+`}`, `{`+zero+`}`, `{`+zero+`}`),
		"without keys, two others": lists(acl(), `{`+ten+p+`}, {`+eleven+p+`}`, `{`+zero+`}, {cidr: 1/1, action: log, port: 8}`,
			`{`+zero+`}, {cidr: 1/1, action: log, port: 8}`),
		"without keys, another in place of the first": lists(acl(), `{`+ten+p+`}, {`+eleven+p+`}`, `{`+zero+`}, {`+eleven+`}`,
			`{`+zero+`}, {`+eleven+p+`}`),
		"without keys, another in place of the last": lists(acl(), `{`+ten+p+`}, {`+eleven+p+`}`, `{`+ten+`}, {`+zero+`}`,
			`{`+ten+p+`}, {`+zero+`}`),
		"without keys, one of two goes":                   lists(acl(), `{`+ten+p+`}, {`+eleven+`, privileged: false}`, `{`+eleven+`}`, `{`+eleven+`, privileged: false}`),
		"without keys, all but one go, and it is another": lists(acl(), `{`+ten+p+`}, {`+eleven+p+`}`, `{`+zero+`}`, `{`+zero+`}`),
		"without keys, one comes first": lists(acl(), `{`+ten+p+`}, {`+eleven+`}`, `{`+zero+`}, {`+ten+`}, {`+eleven+`}`,
			`{`+zero+`}, {`+ten+p+`}, {`+eleven+`}`),
		"without keys, one comes in the middle": lists(acl(), `{`+ten+p+`}, {`+eleven+p+`}`, `{`+ten+`}, {`+zero+`}, {`+eleven+`}`,
			`{`+ten+p+`}, {`+zero+`}, {`+eleven+p+`}`),
		"without keys, one comes last": lists(acl(), `{`+ten+`}, {`+eleven+p+`}`, `{`+ten+`}, {`+eleven+`}, {`+zero+`}`,
			`{`+ten+`}, {`+eleven+p+`}, {`+zero+`}`),
		"without keys, in another order": lists(acl(), `{`+ten+p+`}, {`+eleven+`}, {`+zero+`, privileged: false}`, `{`+zero+`}, {`+ten+`}, {`+eleven+`}`,
			`{`+zero+`, privileged: false}, {`+ten+p+`}, {`+eleven+`}`),
		"without keys, one field of one is edited": lists(acl(), `{`+ten+p+`}, {`+eleven+`, privileged: false}`,
			`{cidr: 10/8, action: allow, port: 3}, {`+eleven+`}`, `{cidr: 10/8, action: allow, port: 3`+p+`}, {`+eleven+`, privileged: false}`),
		"without keys, most fields of one are edited": lists(acl(), `{`+ten+p+`}, {`+eleven+`, privileged: false}`,
			`{cidr: 12/8, action: allow, port: 3}, {`+eleven+`}`, `{cidr: 12/8, action: allow, port: 3}, {`+eleven+`, privileged: false}`),
		"without keys, one is edited next to others": lists(acl(), `{`+ten+p+`}, {`+zero+`}, {`+eleven+p+`}`,
			`{`+ten+`}, {cidr: 0/0, action: deny, port: 7}, {`+eleven+`}`, `{`+ten+p+`}, {cidr: 0/0, action: deny, port: 7}, {`+eleven+p+`}`),
		"without keys, one is edited and another one goes": lists(acl(), `{`+ten+p+`}, {`+zero+`}, {`+eleven+`, privileged: false}`,
			`{`+ten+`, note: x}, {`+eleven+`}`, `{`+ten+`, note: x}, {`+eleven+`, privileged: false}`),
		"without keys, one is doubled": lists(acl(), `{`+ten+p+`}, {`+eleven+`}`, `{`+ten+`}, {`+ten+`}, {`+eleven+`}`,
			`{`+ten+p+`}, {`+ten+`}, {`+eleven+`}`),
		"without keys, two that look the same": lists(acl(), `{`+ten+p+`}, {`+ten+`, privileged: false}`, `{`+ten+`}, {`+ten+`}, {`+zero+`}`,
			`{`+ten+p+`}, {`+ten+`, privileged: false}, {`+zero+`}`),
		"without keys, none is left": lists(acl(), `{`+ten+p+`}`, ``, ``),

		"with keys, another element": lists(containers(), `{name: a, image: i`+p+`}`, `{name: b, image: i}`, `{name: b, image: i}`),
		"with keys, all of one is edited": lists(containers(), `{name: a, image: i`+p+`, security: {user: 1}}`, `{name: a, image: j, args: [k]}`,
			`{name: a, image: j, args: [k]`+p+`, security: {user: 1}}`),
		"with keys, one comes in the middle": lists(containers(), `{name: a`+p+`}, {name: b, security: {user: 1}}`, `{name: a}, {name: c}, {name: b}`,
			`{name: a`+p+`}, {name: c}, {name: b, security: {user: 1}}`),
		"with keys, in another order": lists(containers(), `{name: a`+p+`}, {name: b}, {name: c, security: {user: 1}}`, `{name: c}, {name: a}, {name: b}`,
			`{name: c, security: {user: 1}}, {name: a`+p+`}, {name: b}`),
		"with keys, one goes": lists(containers(), `{name: a`+p+`}, {name: b, security: {user: 1}}`, `{name: b}`, `{name: b, security: {user: 1}}`),
		"with keys, one goes and another one comes": lists(containers(), `{name: a`+p+`}, {name: b`+p+`}`, `{name: b}, {name: c}`,
			`{name: b`+p+`}, {name: c}`),

		"an element goes and comes again": {world: containers(), storage: "v1", steps: []step{
			create("v1", `{spec: {l: [{name: a, privileged: true}]}}`), edit("v1beta1", `{spec: {l: []}}`),
			edit("v1beta1", `{spec: {l: [{name: a}]}}`), shows("v1", `{spec: {l: [{name: a}]}}`),
		}},
		"an element goes and comes again, with a write at the other version between": {world: containers(), steps: []step{
			create("v1", `{spec: {l: [{name: a, privileged: true}]}}`), edit("v1beta1", `{spec: {l: []}}`), rewritten("v1"),
			edit("v1beta1", `{spec: {l: [{name: a}]}}`), shows("v1", `{spec: {l: [{name: a}]}}`),
		}},
		"an element without a key goes and comes again": {world: acl(), storage: "v1", steps: []step{
			create("v1", `{spec: {l: [{`+ten+p+`}]}}`), edit("v1beta1", `{spec: {l: []}}`),
			edit("v1beta1", `{spec: {l: [{`+ten+`}]}}`), shows("v1", `{spec: {l: [{`+ten+`}]}}`),
		}},
	}
	const many = 1000
	was, is, want := make([]string, 0, many), make([]string, 0, many+1), make([]string, 0, many+1)
	for i := range many {
		was = append(was, fmt.Sprintf("{cidr: c%d, privileged: %t}", i, i%2 == 0))
		is = append(is, fmt.Sprintf("{cidr: c%d}", i))
		want = append(want, was[i])
		if i == 500 {
			is, want = append(is, "{cidr: new}"), append(want, "{cidr: new}")
		}
	}
	all["without keys, one comes in the middle of very many"] = lists(acl(), strings.Join(was, ", "), strings.Join(is, ", "), strings.Join(want, ", "))
	return all
}

func abaRows() rows {
	modes := two("{spec: {mode: enum All None Manual}}", "{spec: {mode: enum Apply Preview}}",
		"- {spoke: .spec.mode, hub: .spec.mode, values: {All: Apply, None: Preview, Manual: Preview}}")
	again := []step{
		create("v1beta1", `{spec: {mode: Manual}}`), edit("v1", `{spec: {mode: Apply}}`), shows("v1beta1", `{spec: {mode: All}}`),
		edit("v1", `{spec: {mode: Preview}}`),
	}
	helper := []step{
		create("v1", `{spec: {l: [{name: a, privileged: true}, {name: b}]}}`), edit("v1beta1", `{spec: {l: [{name: b}]}}`),
		edit("v1beta1", `{spec: {l: [{name: b}, {name: a}]}}`),
	}
	return rows{
		"a value of the hub that was another one meanwhile, with the hub stored": {
			world: modes, storage: "v1", steps: append(slices.Clip(again), shows("v1beta1", `{spec: {mode: Manual}}`)),
		},
		"a value of the hub that was another one meanwhile, with the other version stored": {
			world: modes, storage: "v1beta1", steps: append(slices.Clip(again), shows("v1beta1", `{spec: {mode: None}}`)),
		},
		"an element that was gone meanwhile, with the hub stored": {
			world: containers(), storage: "v1", steps: append(slices.Clip(helper), shows("v1", `{spec: {l: [{name: b}, {name: a}]}}`)),
		},
		"an element that was gone meanwhile, with the other version stored": {
			world: containers(), storage: "v1beta1", steps: append(slices.Clip(helper),
				shows("v1", `{spec: {l: [{name: b}, {name: a, privileged: true}]}}`)),
		},
	}
}

// A list without keys may come from an older version, and pass the hub, whose list has keys.
func TestRepeatedElementsPassAHubWithKeys(t *testing.T) {
	t.Parallel()
	const repeated = `{spec: {l: [{v: a}, {v: a}]}}`
	rows{"which a third version lacks": {
		world: world{
			schemas: map[string]string{"v1alpha1": "{spec: {l: [{name: string, v: string}]}}", "v1beta1": "{spec: {note: string}}", "v1": "{spec: {l: [{name: string, v: string}, name]}}"},
			rules:   map[string]string{"v1alpha1": "", "v1beta1": ""},
		},
		steps: []step{create("v1alpha1", repeated), rewritten("v1beta1"), shows("v1alpha1", repeated), edit("v1beta1", `{spec: {note: x}}`), shows("v1alpha1", repeated)},
	}}.hold(t)
}
