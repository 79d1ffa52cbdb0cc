package rules_test

import (
	"strings"
	"testing"
)

// An expression makes an object of one text. What it cannot say of the object is kept field by
// field, and an edit of one field leaves the others alone, unless they say something else then.
func TestKeptFieldsDoNotContradictAnEdit(t *testing.T) {
	t.Parallel()
	rule := func(name string) string {
		return `
- spoke: .spec.` + name + `
  hub: .spec.` + name + `
  toHub: '[has(self.minute) ? self.minute : "*", has(self.hour) ? self.hour : "*"].join(" ")'
  toSpoke: |
    self.split(" ").size() != 2 ? {} : {
      ?"minute": self.split(" ")[0] == "*" ? optional.none() : optional.of(self.split(" ")[0]),
      ?"hour": self.split(" ")[1] == "*" ? optional.none() : optional.of(self.split(" ")[1])}
`
	}
	const time = "{minute: string, hour: string, note: string}"
	w := two("{spec: {at: "+time+", to: "+time+"}}", "{spec: {at: string, to: string}}", rule("at")+rule("to"))
	edited := func(beta, v1, text, want string) row {
		return row{world: w, steps: []step{
			create("v1beta1", `{spec: {at: {`+beta+`}}}`), shows("v1", `{spec: {at: "`+v1+`"}}`),
			edit("v1", `{spec: {at: "`+text+`"}}`), shows("v1beta1", `{spec: {at: {`+want+`}}}`), shows("v1", `{spec: {at: "`+text+`"}}`),
		}}
	}
	rows{
		"a field that the text says otherwise": edited(`hour: "1 2"`, "* 1 2", "5 *", `minute: "5"`),
		"two fields":                           edited(`hour: "1 2", minute: "3 4"`, "3 4 1 2", "5 *", `minute: "5"`),
		"a field that the text does not say":   edited(`hour: "1", note: n`, "* 1", "5 *", `minute: "5", note: n`),
		"both, of which neither is left":       edited(`hour: "1 2", note: n`, "* 1 2", "5 *", `minute: "5"`),
		"the same text":                        edited(`hour: "1 2", note: n`, "* 1 2", "* 1 2", `hour: "1 2", note: n`),
		"another unit keeps its own": {world: w, steps: []step{
			create("v1beta1", `{spec: {at: {hour: "1 2"}, to: {hour: "1", note: n}}}`), edit("v1", `{spec: {at: "5 *", to: "x y z"}}`),
			shows("v1beta1", `{spec: {at: {minute: "5"}, to: {note: n}}}`),
		}},
	}.hold(t)
}

// Fields that no schema knows are in no contradiction, so nothing is noted of the whole object: a
// note would change with each edit, and server-side apply would not come to rest.
func TestUnknownFieldsContradictNothing(t *testing.T) {
	t.Parallel()
	kind := two("{spec: {at: {hour: string}}}", "{spec: {at: string, only: string}}",
		"- {spoke: .spec.at, hub: .spec.at, toHub: self.hour, toSpoke: '{\"hour\": self}'}").kind(t)
	object := `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"uid":"u"},"spec":{"at":{"hour":"1","zz":1}}}`
	hub := convert(t, kind, object, "v1beta1", "v1")
	hub = strings.Replace(hub, `"at":"1"`, `"at":"1","only":"o"`, 1)
	spoke := convert(t, kind, hub, "v1", "v1beta1")
	if !strings.Contains(spoke, `"zz":1`) || !strings.Contains(spoke, "v1.spec.only") || strings.Contains(spoke, `\"object\":`) {
		t.Errorf("%s became %s", hub, spoke)
	}
}
