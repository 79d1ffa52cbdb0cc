package rules_test

import "testing"

// The API server refuses an empty text of format byte, so none is made. What it was made of is
// kept.
func TestNoTextIsNotEncodedAsBytes(t *testing.T) {
	t.Parallel()
	w := two("{spec: {s: string, note: string}}", "{spec: {h: string, note: string}}", "- {spoke: .spec.s, hub: .spec.h, codec: Base64}").
		patched("v1beta1", "properties: {spec: {properties: {s: {format: byte}}}}")
	rows{"an empty text": {world: w, steps: []step{
		create("v1", `{spec: {h: ""}}`), shows("v1beta1", `{spec: {}}`), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {h: "", note: x}}`),
		edit("v1beta1", `{spec: {s: eA==}}`), shows("v1", `{spec: {h: x, note: x}}`),
	}}}.hold(t)
}
