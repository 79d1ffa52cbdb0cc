package jsondoc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// manyOf returns the text of an object with these names.
func manyOf(names []string) string {
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, `,%q:%d`, name, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	return names
}

// A large object has all members that were set, in whatever order they are looked up, between edits
// of all kinds, while the document has other large objects.
func TestMembersOfLargeObjectsAreFound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a seed
		names := manyNames(50 + random.IntN(60))
		o := parse(t, `{"a":`+manyOf(names)+`,"b":`+manyOf(names)+`,"c":`+manyOf(names)+`}`)
		nodes := []*jsondoc.Node{get(t, o, "a"), get(t, o, "b"), get(t, o, "c")}
		models := make([]map[string]string, len(nodes))
		for k := range models {
			models[k] = map[string]string{}
			for i, name := range names {
				models[k][name] = fmt.Sprint(i)
			}
		}
		for step := range 1000 {
			k := random.IntN(len(nodes))
			n, model, name := nodes[k], models[k], fmt.Sprint("n", random.IntN(130))
			value := fmt.Sprint(1000 + step)
			var err error
			switch random.IntN(20) {
			case 0:
				err = n.RemoveMember(name)
				delete(model, name)
			case 1:
				err = n.SetMember(name, raw(t, value))
				model[name] = value
			case 2:
				var added bool
				added, err = n.AddMember(jsondoc.NameOf(name), raw(t, value))
				if _, had := model[name]; added == had {
					t.Fatalf("seed %d: %s is added: %v", seed, name, added)
				}
				if added {
					model[name] = value
				}
			case 3:
				if _, had := model[name]; !had {
					err = n.AppendMember(name, raw(t, value))
					model[name] = value
				}
			case 4:
				err = n.Filter(func(member []byte, _ jsondoc.Member) bool { return string(member) != name })
				delete(model, name)
			case 5:
				if random.IntN(5) > 0 {
					break
				}
				others := manyNames(40 + random.IntN(60))
				n.Replace(raw(t, manyOf(others)))
				clear(model)
				for i, name := range others {
					model[name] = fmt.Sprint(i)
				}
			default: // a few at once, mostly in their order
				from := random.IntN(130)
				for i := range 10 {
					name := fmt.Sprint("n", from+i)
					m, err := n.Member(name)
					if err != nil || string(m.Text()) != model[name] {
						t.Fatalf("seed %d, step %d: %s is %q, want %q, %v", seed, step, name, m.Text(), model[name], err)
					}
				}
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for k, n := range nodes {
			found := map[string]string{}
			if err := n.Each(func(name string, m *jsondoc.Node) bool { found[name] = string(m.Text()); return true }); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(found, models[k]) {
				t.Fatalf("seed %d: got %v, want %v", seed, found, models[k])
			}
		}
	}
}

// A document reuses nodes for its next object.
func TestMembersOfTheNextLargeObjectAreItsOwn(t *testing.T) {
	t.Parallel()
	names := manyNames(100)
	var d jsondoc.Document
	outlines, err := outline(&d, []byte("["+manyOf(names)+","+manyOf(append([]string{"x"}, names...))+"]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{99, 1, 50, 2, 70, 3, 98} {
		for k, outline := range outlines {
			o := d.Open(outline)
			for step := range 20 {
				i := (i + 37*step) % 100
				n, err := o.Member(names[i])
				if want := fmt.Sprint(i + k); err != nil || string(n.Text()) != want {
					t.Errorf("%s of object %d is %s, want %s, %v", names[i], k, n.Text(), want, err)
				}
			}
		}
	}
}
