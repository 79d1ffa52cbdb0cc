package shrink

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A kept value gets smaller, but what it was kept against stays: without it, another law would not
// hold of the smaller object.
func TestReductionsOfAKeptValue(t *testing.T) {
	t.Parallel()
	const kept = `{"value":{"a":"long","b":[1]},"base":"x","shown":"v1:y","watch":"z","whole":"w","in":1}`
	want, smaller := keptAgainst(tree.Read([]byte(kept))), map[string]bool{}
	for v := range reductions(kept) {
		text, _ := v.(string)
		less, err := jsondoc.Decode([]byte(text), true)
		if err != nil || text == "" {
			continue // it is no kept value any more
		}
		if !tree.Equal(keptAgainst(less), keptAgainst(tree.Literal([]byte(kept)))) {
			t.Errorf("%s says something else than %v", text, want)
		}
		smaller[string(tree.Encode(tree.At(less, "value")))] = true
	}
	for _, value := range []string{`{"b":[1]}`, `{"a":"","b":[1]}`, `{"a":"long"}`} {
		if !smaller[value] {
			t.Errorf("no reduction has the value %s", value)
		}
	}
	if tree.Equal(want, keptAgainst(map[string]any{})) {
		t.Error("the value is kept against nothing")
	}
}
