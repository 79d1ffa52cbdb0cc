package conversion_test

import "testing"

// A null that the converter sets is removed where the schema does not allow it, unless the source
// has a null there.
func TestNullThatIsMadeIsPruned(t *testing.T) {
	t.Parallel()
	kind := lossless(t, crdOf("c: {type: integer}", "c: {type: integer}"), func(spec map[string]any, from string) error {
		if from == "v1" && spec != nil {
			spec["c"] = nil
		}
		return nil
	})
	for in, want := range map[string]string{
		`{"spec":{"c":1}}`:    `{"spec":{}}`,
		`{"spec":{}}`:         `{"spec":{}}`,
		`{"spec":{"c":null}}`: `{"spec":{"c":null}}`,
	} {
		if seen, _ := withoutKept(t, convert(t, kind, in, "v1", "v2")); !sameObject(t, seen, want) {
			t.Errorf("%s became %s, want %s", in, seen, want)
		}
	}
}
