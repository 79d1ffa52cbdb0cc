package rules_test

import (
	"strings"
	"testing"
)

// What no rule is about is not looked into, even to identify elements.
func TestRepeatedNamesInElementsAreNotErrors(t *testing.T) {
	t.Parallel()
	kind := pair{beta: "{l: [{a: any}]}", v1: "{l: [{a: any, x: string}]}"}.kind(t)
	const list = `,"l":[{"a":{"b":1,"b":2},"x":"X"},{"a":{"b":1,"b":3},"x":"Y"}]`
	there := convert(t, kind, head("v1", list), "v1", "v1beta1")
	if back := convert(t, kind, there, "v1beta1", "v1"); back != head("v1", list) {
		t.Errorf("comes back as %s", back)
	}
	const first, second = `{"a":{"b":1,"b":2}}`, `{"a":{"b":1,"b":3}}`
	back := convert(t, kind, strings.Replace(there, first+","+second, second+","+first, 1), "v1beta1", "v1")
	if want := head("v1", `,"l":[{"a":{"b":1,"b":3},"x":"Y"},{"a":{"b":1,"b":2},"x":"X"}]`); back != want {
		t.Errorf("in another order it comes back as %s", back)
	}
}

// The kept values of a long list fit, together with what identifies its elements.
func TestDigestsOfElementsTakeNoRoomFromWhatIsKept(t *testing.T) {
	t.Parallel()
	kind := pair{beta: "{l: [{a: string}]}", v1: "{l: [{a: string, x: string}]}"}.kind(t)
	element := `{"a":"b","x":"` + strings.Repeat("x", 243) + `"}`
	object := head("v1", `,"l":[`+strings.Repeat(element+",", 499)+element+`]`)
	if back := convert(t, kind, convert(t, kind, object, "v1", "v1beta1"), "v1beta1", "v1"); back != object {
		t.Errorf("comes back as %.300s", back)
	}
}
