package keep

import "testing"

// FuzzRestore restores annotations that anyone could write, which must not panic.
func FuzzRestore(f *testing.F) {
	for _, hostile := range hostileAnnotations() {
		f.Add(hostile.name, hostile.text(1<<10))
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		kept, _ := takeText(t, name, text)
		if _, err := Restore(t.Context(), &Memory{}, parseTest(t, restoredInto), parseTest(t, restoredInto), nil, kept, &Layout{}); err != nil {
			t.Fatalf("%v: %s %s", err, name, text)
		}
	})
}

// restoredInto has lists and objects at the places of the seeds.
const restoredInto = `{"spec":{"a":[{"name":"a"},{"name":"b"}],"b":{"c":[1,2,3]},"l":[{"x":1},{"x":2}]},"status":{},"metadata":{"labels":{}}}`
