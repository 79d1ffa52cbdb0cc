package jsondoc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	without := func(names string) func([]byte, jsondoc.Member) bool {
		return func(name []byte, m jsondoc.Member) bool {
			text := string(name)
			if text == "" {
				text = string(m.Value().Text())
			}
			return !strings.Contains(names, text)
		}
	}
	for _, test := range []struct{ name, text, path, goes, want string }{
		{"nothing", `{"o": { "a" : 1, "b":2 }}`, "o", "", `{"o": { "a" : 1, "b":2 }}`},
		{"the first member", `{"o": { "a" : 1, "b":2 , "c":3}}`, "o", "a", `{"o": { "b":2 , "c":3}}`},
		{"members in the middle", `{"o":{"a":1,"b":2,"c":3,"d":4}}`, "o", "b c", `{"o":{"a":1,"d":4}}`},
		{"the last member", `{"o":{"a":1 , "b":2 } }`, "o", "b", `{"o":{"a":1 } }`},
		{"all members", `{"o":{"a":1,"b":2}}`, "o", "a b", `{"o":{}}`},
		{"a name with escapes", `{"o":{"\u0061":1,"b":2}}`, "o", "a", `{"o":{"b":2}}`},
		{"elements", `{"o":[1, 2 ,3, 4]}`, "o", "1 3", `{"o":[ 2 , 4]}`},
		{"all elements", `{"o":[ 1,2]}`, "o", "1 2", `{"o":[]}`},
		{"no members", `{"o":{ }}`, "o", "", `{"o":{ }}`},
		{"a scalar", `{"o":"a"}`, "o", "a", `{"o":"a"}`},
		{"an absent value", `{"o":1}`, "p", "", `{"o":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, test.text)
			if err := get(t, o, test.path).Filter(without(test.goes)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(o.Text())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if test.want == test.text && !o.Untouched() {
				t.Error("nothing was removed, and the object is said to be touched")
			}
		})
	}
}

func TestFilterEditsAndGoesOn(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":1,"b":2,"c":3}`)
	err := o.Filter(func(name []byte, m jsondoc.Member) bool {
		m.Node().Replace(jsondoc.IntValue(9))
		return string(name) != "b"
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.SetMember("b", jsondoc.IntValue(4)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"a":9,"c":9,"b":4}`, string(o.Text())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
