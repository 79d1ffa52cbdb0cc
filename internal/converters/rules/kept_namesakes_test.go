package rules_test

import "testing"

// Elements of a list may have the same key. A rule that picks one takes the first, and a map has
// room for one. What comes of the others depends on the first: they never take its place.
func TestElementsWithOneKeyDependOnTheFirst(t *testing.T) {
	t.Parallel()
	const list = "{spec: {x: string, l: [{name: string, value: string, note: string}]}}"
	picks := two("{spec: {x: string, type: string, source: string}}", list,
		"- {spoke: .spec.type, hub: '.spec.l[name=type].value'}\n- {spoke: .spec.source, hub: '.spec.l[name=source].value'}")
	entries := two("{spec: {x: string, m: {'*': {value: string, note: string}}}}", list, "- {spoke: '.spec.m{name}.value', hub: '.spec.l[name].value'}")
	// Each row writes a list at v1, makes a patch at v1beta1, and reads the list at v1.
	patched := func(w world, v1, patch, want string) row {
		return row{world: w, steps: []step{
			create("v1", `{spec: {l: [`+v1+`]}}`), edit("v1beta1", `{spec: {`+patch+`}}`), edit("v1", `{spec: {x: y}}`), rewritten("v1beta1"),
			shows("v1", `{spec: {x: y`+want+`}}`),
		}}
	}
	const a, b, c = `{name: type, value: a}`, `{name: type, value: b}`, `{name: type, value: c}`
	const source, owner, other = `{name: source, value: s}`, `{name: owner, value: o}`, `{name: owner, value: p}`
	rows{
		"nothing is edited":             patched(picks, a+`, `+b, `x: z`, `, l: [`+a+`, `+b+`]`),
		"the first is edited":           patched(picks, a+`, `+b, `type: c`, `, l: [`+c+`, `+b+`]`),
		"the first goes":                patched(picks, a+`, `+b, `type: null`, ``),
		"the first goes, another comes": patched(picks, a+`, `+b, `type: null, source: s`, `, l: [`+source+`]`),
		"the first goes, others stay":   patched(picks, a+`, `+owner+`, `+b+`, `+other, `type: null`, `, l: [`+owner+`, `+other+`]`),
		"the first has nothing to show": patched(picks, `{name: type, note: n}, `+b, `source: s`, `, l: [{name: type, note: n}, `+b+`, `+source+`]`),
		"the first has nothing to show, and then something": patched(picks, `{name: type, note: n}, `+b, `type: c`,
			`, l: [{name: type, value: c, note: n}, `+b+`]`),
		"the first goes, but not a part that is not shown": patched(picks, `{name: type, value: a, note: n}, `+b+`, `+source, `type: null`,
			`, l: [{name: type, note: n}, `+b+`, `+source+`]`),
		"in an order of their own":   patched(picks, b+`, `+owner+`, `+source+`, `+a+`, `+other, `type: c`, `, l: [`+c+`, `+owner+`, `+source+`, `+a+`, `+other+`]`),
		"between elements that move": patched(picks, source+`, `+a+`, `+owner+`, `+b, `source: null`, `, l: [`+a+`, `+owner+`, `+b+`]`),
		"before one that comes":      patched(picks, owner+`, `+other+`, `+b+`, `+a, `source: s`, `, l: [`+owner+`, `+other+`, `+source+`, `+b+`, `+a+`]`),
		"elements without a key":     patched(picks, `{note: n}, `+a+`, {value: v}, `+b, `type: c`, `, l: [{note: n}, `+c+`, {value: v}, `+b+`]`),
		"elements without a key, the first goes": patched(picks, source+`, {note: n}, `+a+`, {value: v}, `+b, `type: null`,
			`, l: [`+source+`, {note: n}, {value: v}]`),
		"a map is edited":            patched(entries, a+`, `+b+`, `+owner, `m: {type: {value: c}}`, `, l: [`+c+`, `+b+`, `+owner+`]`),
		"the first goes from a map":  patched(entries, a+`, `+b+`, `+owner, `m: {type: null}`, `, l: [`+owner+`]`),
		"another one comes to a map": patched(entries, a+`, `+b, `m: {owner: {value: o}}`, `, l: [`+owner+`, `+a+`, `+b+`]`),
	}.hold(t)
}

// An element that goes at the other version stays away, whatever only this version has of it.
func TestPickedElementsThatGoStayAway(t *testing.T) {
	t.Parallel()
	const list = "l: [{name: string, value: string, note: string}]"
	whole := two("{spec: {main: {name: string, value: string}, type: string}}", "{spec: {"+list+"}}",
		"- {spoke: .spec.main, hub: '.spec.l[name=main]'}\n- {spoke: .spec.type, hub: '.spec.l[name=type].value'}")
	position := two("{spec: {type: string, z: string}}", "{spec: {"+list+"}}",
		"- {spoke: .spec.type, hub: '.spec.l[name=type].value'}\n- {spoke: .spec.z, hub: '.spec.l[0].note'}")
	gone := func(w world, v1, beta, patch, want string) row {
		return row{world: w, steps: []step{
			create("v1", `{spec: {`+v1+`}}`), shows("v1beta1", `{spec: {`+beta+`}}`), edit("v1beta1", `{spec: {`+patch+`}}`), rewritten("v1"),
			shows("v1", `{spec: {`+want+`}}`), shows("v1beta1", `{spec: {}}`),
		}}
	}
	rows{
		"a whole element":                gone(whole, `l: [{name: main, value: v, note: n}]`, `main: {name: main, value: v}`, `main: null`, ``),
		"a whole element next to others": gone(whole, `l: [{name: main, note: n}, {name: owner}]`, `main: {name: main}`, `main: null`, `l: [{name: owner}]`),
		"the first element":              gone(position, `l: [{name: a, note: n}]`, `z: n`, `z: null`, ``),
	}.hold(t)
}
