package jsondoc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Nodes have all of a value, whether or not the inventory has room for it.
func TestAllOfAValueIsThere(t *testing.T) {
	t.Parallel()
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	tests := map[string]string{
		"nothing in it":       `{"a":{},"b":[],"c":[{},[]]}`,
		"white space":         "{ \"a\" : [ 1 , { \"b\" : null } ,\n[ ] ] , \"c\" : { } }",
		"names with escapes":  `{"a":{"\u0062\n":{"\"":1},"":2}}`,
		"many members":        `{"a":{` + members(40) + `,"z":{"b":[1,{"c":2}]}},"d":[{"e":1}]}`,
		"many elements":       `{"a":[` + strings.Join(many, ",") + `],"b":{"c":{"d":[1]}}}`,
		"what is in metadata": `{"metadata":{"labels":{"a":"b"},"list":[{"c":"d"}]}}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want any
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			o := parse(t, text)
			if diff := cmp.Diff(want, throughNodes(t, o.Node)); diff != "" {
				t.Errorf("nodes: -want +got:\n%s", diff)
			}
			if err := o.Set(o.Value(), "copy"); err != nil { // of text that was added
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, throughNodes(t, get(t, o, "copy"))); diff != "" {
				t.Errorf("nodes of a copy: -want +got:\n%s", diff)
			}
		})
	}
}

func throughNodes(t *testing.T, n *jsondoc.Node) (scalar any) {
	t.Helper()
	object, list := map[string]any{}, make([]any, 0, n.Len())
	err := n.Each(func(name string, value *jsondoc.Node) bool {
		object[name], list = throughNodes(t, value), append(list, throughNodes(t, value))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	switch n.Kind() {
	case jsondoc.Map:
		return object
	case jsondoc.Array:
		return list
	default:
		if err := json.Unmarshal(n.Text(), &scalar); err != nil {
			t.Fatal(err)
		}
		return scalar
	}
}

// A duplicate name counts where it is, and changes nothing around it.
func TestARepeatedNameCountsWhereItIs(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"spec":{"a":{"b":{"x":1,"x":2},"c":{"y":1}},"d":[{"z":1,"z":2},{"e":1}]}}`)
	for path, want := range map[string]string{"spec a b x": "2", "spec a c y": "1", "spec a c": `{"y":1}`} {
		if got := get(t, o, strings.Fields(path)...); string(got.Text()) != want {
			t.Errorf("%s: %s, want %s", path, got.Text(), want)
		}
	}
	for i, want := range []string{`{"z":1,"z":2}`, `{"e":1}`} {
		if e, err := get(t, o, "spec", "d").Element(i); err != nil || string(e.Text()) != want {
			t.Errorf("element %d: %s, %v, want %s", i, e.Text(), err, want)
		}
	}
}

// An element that stays in a list has no name.
func TestAFilteredListHasNoMembers(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"l":[1,2,3]}`)
	l := get(t, o, "l")
	if err := l.Filter(func(_ []byte, m jsondoc.Member) bool { return string(m.Value().Text()) != "2" }); err != nil {
		t.Fatal(err)
	}
	if m, err := l.Member(""); m != nil || err != nil {
		t.Errorf("a member: %s, %v", m.Text(), err)
	}
}
