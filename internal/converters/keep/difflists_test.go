package keep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

func TestMatchKeys(t *testing.T) {
	t.Parallel()
	picked := &Place{Picks: []Pick{{annotation.PathElement{Keys: []annotation.Key{{Name: "k", Value: `"picked"`}}}, &Place{}}}}
	for name, test := range map[string]struct {
		was, now string // lists, whose elements are known by k
		list     *Place
		of       []int    // the index in now of each element of was, or -1
		keys     []string // by which each is known, or "" if nothing identifies it
	}{
		"the same keys":                  {`[{"k":"a"},{"k":"b"}]`, `[{"k":"a"},{"k":"b"}]`, nil, []int{0, 1}, []string{`"a"`, `"b"`}},
		"the same keys in another order": {`[{"k":"a"},{"k":"b"}]`, `[{"k":"b"},{"k":"a"}]`, nil, []int{1, 0}, []string{`"a"`, `"b"`}},
		"one is not shown":               {`[{"k":"a"},{"k":"b"}]`, `[{"k":"b"}]`, nil, []int{-1, 0}, []string{`"a"`, `"b"`}},
		"none is shown":                  {`[{"k":"a"},{"k":"b"}]`, `[]`, nil, []int{-1, -1}, []string{`"a"`, `"b"`}},
		"one more is shown":              {`[{"k":"b"}]`, `[{"k":"a"},{"k":"b"}]`, nil, []int{1}, []string{`"b"`}},
		"a key has another value":        {`[{"k":"a"},{"k":"x"},{"k":"c"}]`, `[{"k":"a"},{"k":"b"},{"k":"c"}]`, nil, []int{0, 1, 2}, []string{`"a"`, `"b"`, `"c"`}},
		"keys have other values":         {`[{"k":"x"},{"k":"y"},{"k":"c"}]`, `[{"k":"c"},{"k":"a"},{"k":"b"}]`, nil, []int{1, 2, 0}, []string{`"a"`, `"b"`, `"c"`}},
		"other values, and one is not shown": {
			`[{"k":"x"},{"k":"y"}]`, `[{"k":"a"}]`, nil, []int{-1, -1}, []string{`"x"`, `"y"`},
		},
		"repeated keys":                        {`[{"k":"a"},{"k":"a"}]`, `[{"k":"a"}]`, nil, []int{0, -1}, []string{`"a"`, ""}},
		"repeated keys of which none is shown": {`[{"k":"a"},{"k":"a"}]`, `[]`, nil, []int{-1, -1}, []string{`"a"`, ""}},
		"repeated keys that differ there":      {`[{"k":"a"},{"k":"a"}]`, `[{"k":"a"},{"k":"b"}]`, nil, []int{0, 1}, []string{`"a"`, `"b"`}},
		"an element without its key":           {`[{"k":"a"},{"o":1}]`, `[{"k":"a"}]`, nil, []int{0, -1}, []string{`"a"`, ""}},
		"no element has its key":               {`[{"o":1},{"o":2}]`, `[{"k":"a"},{"k":"b"}]`, nil, []int{0, 1}, []string{`"a"`, `"b"`}},
		"null is no key":                       {`[{"k":null}]`, `[]`, nil, []int{-1}, []string{""}},
		"a number and a text are two keys":     {`[{"k":1},{"k":"1"}]`, `[{"k":"1"},{"k":1}]`, nil, []int{1, 0}, []string{`1`, `"1"`}},
		"a number in another spelling":         {`[{"k":1.0}]`, `[{"k":1}]`, nil, []int{0}, []string{`1`}},
		"a rule picks what is shown":           {`[{"k":"a"}]`, `[{"k":"picked"}]`, picked, []int{-1}, []string{`"a"`}},
		"a rule picks one of those shown":      {`[{"k":"x"}]`, `[{"k":"picked"},{"k":"a"}]`, picked, []int{1}, []string{`"a"`}},
		"many": {
			`[{"k":0},{"k":1},{"k":2},{"k":3},{"k":4},{"k":5},{"k":6},{"k":7},{"k":"x"},{"k":9}]`,
			`[{"k":9},{"k":8},{"k":7},{"k":6},{"k":5},{"k":4},{"k":3},{"k":2},{"k":1},{"k":0}]`,
			nil,
			[]int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
			[]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := []string{"k"}
			was, errWas := nodeOf(t, test.was).Elements()
			now, errNow := nodeOf(t, test.now).Elements()
			keys := distinctKeys(now, fields, nil)
			if errWas != nil || errNow != nil || keys == nil {
				t.Fatal(errWas, errNow, keys)
			}
			m := matchKeys(was, keys, fields, cursor{place: test.list})
			known := make([]string, len(m.keys))
			for i, k := range m.keys {
				if k != nil {
					known[i] = index(k)
				}
			}
			if diff := cmp.Diff(test.of, m.of) + cmp.Diff(test.keys, known); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for j, i := range m.from {
				if i >= 0 && m.of[i] != j {
					t.Errorf("element %d is of %d, which is %d", j, i, m.of[i])
				}
			}
		})
	}
}

// A key that an element leaves to its default is known by that.
func TestMatchKeysByDefault(t *testing.T) {
	t.Parallel()
	list := testSchema(t).Property("spec").Property("keyed")
	fields := list.ListMapKeys()
	was, errWas := nodeOf(t, `[{"k":"a"},{"k":"a","d":"y"},{"k":"b","d":"x"}]`).Elements()
	now, errNow := nodeOf(t, `[{"k":"b"},{"k":"a","d":"y"},{"k":"a","d":"x"}]`).Elements()
	if errWas != nil || errNow != nil {
		t.Fatal(errWas, errNow)
	}
	m := matchKeys(was, distinctKeys(now, fields, list.Items()), fields, cursor{schema: list})
	if diff := cmp.Diff([]int{2, 1, 0}, m.of); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A list with keys by its schema, in which an element lacks its key, is one without keys.
func TestMatchKeysThatTheSchemaDemands(t *testing.T) {
	t.Parallel()
	list := testSchema(t).Property("spec").Property("keyed")
	fields := list.ListMapKeys()
	was, errWas := nodeOf(t, `[{"d":"y"}]`).Elements()
	now, errNow := nodeOf(t, `[{"k":"a","d":"y"}]`).Elements()
	if errWas != nil || errNow != nil {
		t.Fatal(errWas, errNow)
	}
	m := matchKeys(was, distinctKeys(now, fields, list.Items()), fields, cursor{schema: list})
	if diff := cmp.Diff([]int{-1}, m.of); diff != "" || m.keys[0] != nil {
		t.Errorf("known by %v (-want +got):\n%s", m.keys[0], diff)
	}
}

// Only what keeps something is stored of a list without keys: the elements with kept values, and
// those that others follow.
func TestOnlyElementsWithKeptValuesAreStored(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		x, shown string
		want     string // the indexes of stored elements, and their number of kept values
	}{
		"nothing is lost":          {`[{"a":1},{"a":2}]`, `[{"a":1},{"a":2}]`, ``},
		"some have more":           {`[{"a":1},{"a":2,"b":1,"c":2},{"a":3},{"a":4,"b":2}]`, `[{"a":1},{"a":2},{"a":3},{"a":4}]`, `1:2 3:1`},
		"one is not shown":         {`[{"a":1},{"a":2},{"a":3}]`, `[{"a":1},{"a":3}]`, `0:0 added behind 0`},
		"the first one is not":     {`[{"a":1},{"a":2}]`, `[{"a":2}]`, `added behind -1`},
		"none is shown":            {`[{"a":1},{"a":2}]`, `[]`, `added behind -1 added behind -1`},
		"one is not, one has more": {`[{"a":1,"b":1},{"a":2}]`, `[{"a":1}]`, `0:1 added behind 0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := diffTest(t, `{"l":`+test.x+`}`, `{"l":`+test.shown+`}`, &Layout{})
			got := ""
			for _, e := range entries {
				got = describeList(e.List)
			}
			if len(entries) > 1 || got != test.want {
				t.Errorf("got %q in %d entries", got, len(entries))
			}
		})
	}
}
