package rules_test

import "testing"

// All kept values are judged before any of them is restored. What a unit reads elsewhere in the
// object may itself be kept; once restored, it would no longer be what the other version shows.
func TestWhatReturnsDoesNotHideWhatIsJudgedLater(t *testing.T) {
	t.Parallel()
	all := rows{}
	for kind, list := range map[string]string{"with keys": ", name], every: ", "without keys": "], every: "} {
		w := two("{spec: {note: string, l: [{name: string, a: string, in: [{b: string}]}"+list+"string}}",
			"{spec: {note: string, l: [{name: string, a: string, in: [{b: string}]}"+list+"integer}}",
			"- {spoke: .spec.every, hub: .spec.every, codec: DurationSeconds}\n"+
				"- {spoke: '.spec.l[].a', hub: '.spec.l[].a', toHub: 'self.lowerAscii() + (object.spec.every == \"90s\" ? \"\" : \"!\")', toSpoke: 'self.upperAscii()'}\n"+
				"- {spoke: '.spec.l[].in[].b', hub: '.spec.l[].in[].b', toHub: 'object.spec.every == \"90s\" ? self.lowerAscii() : self', toSpoke: 'self.upperAscii()'}")
		const spec = `every: 90s, l: [{name: n, a: Xy, in: [{b: Ab}, {b: Cd}]}, {name: m, a: Zy, in: [{b: Ef}]}]`
		all[kind] = row{world: w, steps: []step{
			create("v1beta1", `{spec: {`+spec+`}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {note: x, `+spec+`}}`),
		}}
	}
	all.hold(t)
}
