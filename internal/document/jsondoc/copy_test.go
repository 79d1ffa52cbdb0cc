package jsondoc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

const copied = `{"metadata":{"labels":{"a":"b"},"name":"x"}, "spec" : {"a":1,"b":{"c":[1,2]},"d":{}} ,"e":0}`

// edits change an object in every possible way.
func edits() []edit {
	return []edit{
		set(`2`, "spec", "a"), set(`"new"`, "spec", "n"), remove("spec", "d"), move("spec b", "b"), set(`{"z":[]}`, "metadata", "labels", "l"),
		set(`3`, "b", "c2"), set(`null`, "e"),
	}
}

func TestTheOriginalIsTheObjectAsItCame(t *testing.T) {
	t.Parallel()
	o := parse(t, copied)
	for _, edit := range edits() {
		if err := edit(t, o); err != nil {
			t.Fatal(err)
		}
		original := o.Original()
		if !original.Untouched() || string(original.Text()) != copied {
			t.Fatalf("it is %s", original.Text())
		}
		if got := string(get(t, original, "metadata", "labels", "a").Text()); got != `"b"` {
			t.Errorf("a label is %s", got)
		}
	}
	was := string(o.Text())
	original := o.Original()
	if err := original.Remove("spec"); err != nil {
		t.Fatal(err)
	}
	if string(o.Text()) != was || strings.Contains(string(original.Text()), "spec") || string(o.Original().Text()) != copied {
		t.Error("an edit of it is one of another object")
	}
}

func TestACopyIsTheObjectAsItStands(t *testing.T) {
	t.Parallel()
	all := edits()
	for i := range len(all) + 1 {
		o := parse(t, copied)
		for _, edit := range all[:i] {
			if err := edit(t, o); err != nil {
				t.Fatal(err)
			}
		}
		was := string(o.Text())
		c := o.Copy()
		if diff := cmp.Diff(was, string(c.Text())); diff != "" {
			t.Fatalf("after %d edits (-object +copy):\n%s", i, diff)
		}
		again := c.Copy()
		if err := again.Set(jsondoc.IntValue(1), "spec", "more"); err != nil {
			t.Fatal(err)
		}
		if err := again.Remove("spec", "more"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was, string(again.Text())); diff != "" {
			t.Fatalf("after %d edits (-object +copy of its copy):\n%s", i, diff)
		}
		sameTree(t, parse(t, was).Node, c.Node)
		for _, edit := range all {
			if err := edit(t, c); err != nil {
				t.Fatal(err)
			}
			if string(o.Text()) != was {
				t.Fatalf("an edit of the copy is one of the object: %s", o.Text())
			}
			if c.Untouched() {
				t.Fatal("an edit of the copy is not seen")
			}
		}
		for _, edit := range all[i:] {
			if err := edit(t, o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sameTree compares two values part by part, including whether they are untouched.
func sameTree(t *testing.T, a, b *jsondoc.Node) {
	t.Helper()
	if !bytes.Equal(a.Text(), b.Text()) || a.Untouched() != b.Untouched() || a.Path() != b.Path() {
		t.Errorf("%s is %s, untouched %v, and in the copy %s: %s, untouched %v",
			a.Path(), a.Text(), a.Untouched(), b.Path(), b.Text(), b.Untouched())
	}
	var parts []*jsondoc.Node
	if err := b.Each(func(_ string, n *jsondoc.Node) bool { parts = append(parts, n); return true }); err != nil {
		t.Fatal(err)
	}
	if err := a.Each(func(_ string, n *jsondoc.Node) bool { sameTree(t, n, parts[0]); parts = parts[1:]; return true }); err != nil {
		t.Fatal(err)
	}
}

// A copy has the members of the text; a text that cannot be parsed has no copy.
func TestACopyOfAnObjectThatWasReplacedHasItsMembers(t *testing.T) {
	t.Parallel()
	o := parse(t, copied)
	v, err := jsondoc.RawValue([]byte(`{"a":{"b":1},"c":2}`))
	if err != nil {
		t.Fatal(err)
	}
	o.Replace(v)
	c := o.Copy()
	if c == nil || !bytes.Equal(c.Text(), o.Text()) {
		t.Fatalf("%s of %s", c.Text(), o.Text())
	}
	sameTree(t, parse(t, string(o.Text())).Node, c.Node)
}

func TestThereIsNoCopyOfWhatIsNestedTooDeep(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for _, test := range []struct {
		name, text string
		edit       edit
		want       bool
	}{
		{"as deep as it came", `{"a":` + nested(511) + `,"b":1}`, set("2", "b"), true},
		{"moved, on the same level", `{"a":` + nested(500) + `}`, move("a", "b"), true},
		{"moved deeper", `{"a":` + nested(511) + `,"b":{"c":1}}`, move("a", "b d"), false},
		{"new", `{"a":{"b":{}}}`, set(nested(511), "a", "b", "c"), false},
		{"wide, and not deep", `{"a":{}}`, set("["+strings.Repeat("[],", 400)+"[]]", "a", "b"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, test.text)
			if err := test.edit(t, o); err != nil {
				t.Fatal(err)
			}
			_, err := jsondoc.ParseObject(o.Text())
			if c := o.Copy(); (c != nil) != test.want || c != nil && err != nil {
				t.Errorf("there is a copy: %v; its text can be read: %v", c != nil, err)
			}
		})
	}
}

func TestSameText(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":{"x":1},"b":{"x":1},"c":{"x":2},"d":1}`)
	a, b, c := get(t, o, "a"), get(t, o, "b"), get(t, o, "c")
	if !a.SameText(b) || !a.SameText(a) || a.SameText(c) || a.SameText(nil) || (*jsondoc.Node)(nil).SameText(a) {
		t.Error("texts are the same that are not, or the other way round")
	}
	if err := c.SetMember("x", jsondoc.IntValue(1)); err != nil {
		t.Fatal(err)
	}
	if a.SameText(c) {
		t.Error("SameText has made the text of an edited value")
	}
}
