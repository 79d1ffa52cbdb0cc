package generate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/generate"
)

func TestFragments(t *testing.T) {
	t.Parallel()
	var got []string
	for fragment := range generate.Fragments([]byte(`{"apiVersion":"g/v1","kind":"K","spec":{"kind":1,"l":[1.10,"<"]}}`)) {
		got = append(got, strings.TrimPrefix(string(fragment), `{"apiVersion":"g/v1","kind":"K"`))
	}
	want := []string{
		`}`, `,"spec":{"l":[1.10,"<"]}}`, `,"spec":{"kind":1}}`, `,"spec":{"kind":1,"l":["<"]}}`, `,"spec":{"kind":1,"l":[1.10]}}`,
		`,"spec":null}`, `,"spec":{"kind":null,"l":[1.10,"<"]}}`, `,"spec":{"kind":1,"l":null}}`,
		`,"spec":{"kind":1,"l":[null,"<"]}}`, `,"spec":{"kind":1,"l":[1.10,null]}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
