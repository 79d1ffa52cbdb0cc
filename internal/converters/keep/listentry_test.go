package keep

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// diffTest returns the entries that bring x back where g is shown at both versions.
func diffTest(t *testing.T, x, g string, l *Layout) []*annotation.Entry {
	t.Helper()
	entries, err := Diff(t.Context(), &Memory{}, &Conversion{X: parseTest(t, x), Y: parseTest(t, g), G: parseTest(t, g), Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// describeList says which elements of a list are stored.
func describeList(l *annotation.ListEntry) string {
	all := make([]string, 0, len(l.Elements)+len(l.Added))
	for _, e := range l.Elements {
		all = append(all, fmt.Sprintf("%d:%d", e.Index, len(e.Kept)))
	}
	for _, a := range l.Added {
		all = append(all, fmt.Sprintf("added behind %d", a.After))
	}
	return strings.Join(all, " ")
}

// What a forged list says of elements that are not there has no effect.
func TestForgedListsAreRestoredAsFarAsTheyFit(t *testing.T) {
	t.Parallel()
	was := func(element string) string {
		return string(annotation.DigestOf(digest(nodeOf(t, element))).AppendTo(nil))
	}
	const of = `,"kept":[{"value":1,"path":["y"]}],"alike":"a"}`
	for name, test := range map[string]struct{ list, shown, want string }{
		"an element behind the end": {`{"length":1,"elements":{"5":{"was":"a"` + of + `}}`, `[{"x":1}]`, `[{"x":1}]`},
		"an element that was there in a list of that length": {
			fmt.Sprintf(`{"length":2,"elements":{"0":{"was":%q},"%d":{"was":"a"`+of+`}}`, was(`{"x":4}`), math.MaxInt),
			`[{"x":1},{"x":2},{"x":3},{"x":4},{"x":5}]`, `[{"x":1},{"x":2},{"x":3},{"x":4},{"x":5}]`,
		},
		"added behind the end":               {`{"length":1,"added":[{"after":7,"value":{"x":2}}]}`, `[{"x":1}]`, `[{"x":2},{"x":1}]`},
		"added far behind the end":           {fmt.Sprintf(`{"length":1,"elements":{"0":{"was":%q}},"added":[{"after":%d,"value":2}]}`, was(`1`), math.MaxInt), `[1]`, `[1,2]`},
		"added far before the beginning":     {fmt.Sprintf(`{"length":1,"added":[{"after":%d,"value":2}]}`, math.MinInt), `[1]`, `[2,1]`},
		"added to an empty list":             {`{"length":3,"elements":{"2":{"was":"a"}},"added":[{"after":2,"value":2}]}`, `[]`, `[2]`},
		"an element of a list that is gone":  {`{"length":3,"elements":{"2":{"was":"a"` + of + `}}`, `[]`, `[]`},
		"a list where there is an object":    {`{"length":1,"added":[{"after":0,"value":2}]}`, `{"a":1}`, `{"a":1}`},
		"two elements that are the same one": {fmt.Sprintf(`{"length":2,"elements":{"0":{"was":%[1]q%[2]s,"1":{"was":%[1]q%[2]s}}`, was(`{"x":1}`), of), `[{"x":1}]`, `[{"x":1,"y":1}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, _ := takeText(t, named(pathOf("l")), `{"list":`+test.list+`}`)
			obj, x := parseTest(t, `{"l":`+test.shown+`}`), parseTest(t, `{"l":`+test.shown+`}`)
			if _, err := Restore(t.Context(), &Memory{}, obj, x, nil, kept, &Layout{}); err != nil {
				t.Fatal(err)
			}
			if got, want := string(obj.Text()), `{"l":`+test.want+`}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// What only this version has of a list without keys returns wherever its elements are.
func TestListsAreRestoredBesideEdits(t *testing.T) {
	t.Parallel()
	const x, shown = `[{"a":1},{"hidden":1},{"a":2,"b":2},{"a":3}]`, `[{"a":1},{"a":2},{"a":3}]`
	for name, test := range map[string]struct{ now, want string }{
		"nothing":                         {shown, x},
		"one more at the end":             {`[{"a":1},{"a":2},{"a":3},{"a":4}]`, `[{"a":1},{"hidden":1},{"a":2,"b":2},{"a":3},{"a":4}]`},
		"one more at the beginning":       {`[{"a":0},{"a":1},{"a":2},{"a":3}]`, `[{"a":0},{"a":1},{"hidden":1},{"a":2,"b":2},{"a":3}]`},
		"the last one removed":            {`[{"a":1},{"a":2}]`, `[{"a":1},{"hidden":1},{"a":2,"b":2}]`},
		"the one before a hidden one":     {`[{"a":2},{"a":3}]`, `[{"hidden":1},{"a":2,"b":2},{"a":3}]`},
		"the one that has more":           {`[{"a":1},{"a":3}]`, `[{"a":1},{"hidden":1},{"a":3}]`},
		"another one edited":              {`[{"a":1},{"a":2},{"a":4}]`, `[{"a":1},{"hidden":1},{"a":2,"b":2},{"a":4}]`},
		"the one that has more, and back": {`[{"a":3},{"a":2},{"a":1}]`, `[{"a":3},{"a":2,"b":2},{"a":1},{"hidden":1}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := diffTest(t, `{"l":`+x+`}`, `{"l":`+shown+`}`, &Layout{})
			obj := parseTest(t, `{"l":`+test.now+`}`)
			if _, err := Restore(t.Context(), &Memory{}, obj, parseTest(t, `{"l":`+test.now+`}`), nil, entries, &Layout{}); err != nil {
				t.Fatal(err)
			}
			if got, want := string(obj.Text()), `{"l":`+test.want+`}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
