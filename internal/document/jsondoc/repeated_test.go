package jsondoc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// repeated is an object with duplicate names below the top, one in another spelling.
const repeated = `{"a":{"x":1, "y":[0] ,"\u0078":{"z":1,"z":2}, "w":0},"b":{"c":1,"c":2}}`

// All readers of an object find the last member of a name.
func TestLastOfRepeatedNamesCounts(t *testing.T) {
	t.Parallel()
	o := parse(t, repeated)
	a := get(t, o, "a")
	if got := string(get(t, o, "a", "x").Text()); got != `{"z":1,"z":2}` {
		t.Errorf("Get: %s", got)
	}
	if got := string(get(t, o, "a", "x", "z").Text()); got != "2" {
		t.Errorf("Get below it: %s", got)
	}
	if a.Len() != 3 {
		t.Errorf("%d members", a.Len())
	}
	var each, filtered, pairs []string
	if err := a.Each(func(name string, value *jsondoc.Node) bool {
		each = append(each, name+" "+string(value.Text()))
		return true
	}); err != nil {
		t.Error(err)
	}
	if err := a.Filter(func(name []byte, m jsondoc.Member) bool {
		filtered = append(filtered, string(name)+" "+string(m.Value().Text()))
		return true
	}); err != nil {
		t.Error(err)
	}
	if err := jsondoc.Pairs(a, nil, true, func(name []byte, a, _ *jsondoc.Node) bool {
		pairs = append(pairs, string(name)+" "+string(a.Text()))
		return true
	}); err != nil {
		t.Error(err)
	}
	want := []string{"y [0]", `x {"z":1,"z":2}`, "w 0"}
	for what, got := range map[string][]string{"Each": each, "Filter": filtered, "Pairs": pairs} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if got := string(o.Text()); got != repeated {
		t.Errorf("looking has changed the object: %s", got)
	}
}

// An edit of a member removes duplicates from its object and no other.
func TestEditsOfRepeatedNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit edit
		want string
	}{
		"set":                          {set("9", "a", "x"), `{"a":{ "y":[0] ,"\u0078":9, "w":0},"b":{"c":1,"c":2}}`},
		"set next to it":               {set("9", "a", "w"), `{"a":{ "y":[0] ,"\u0078":{"z":1,"z":2}, "w":9},"b":{"c":1,"c":2}}`},
		"set below":                    {set("9", "a", "x", "z"), `{"a":{ "y":[0] ,"\u0078":{"z":9}, "w":0},"b":{"c":1,"c":2}}`},
		"add":                          {set("9", "a", "v"), `{"a":{ "y":[0] ,"\u0078":{"z":1,"z":2}, "w":0,"v":9},"b":{"c":1,"c":2}}`},
		"remove":                       {remove("a", "x"), `{"a":{ "y":[0] , "w":0},"b":{"c":1,"c":2}}`},
		"remove one that is not there": {remove("a", "v"), repeated},
		"move":                         {move("a x", "d"), `{"a":{ "y":[0] , "w":0},"b":{"c":1,"c":2},"d":{"z":1,"z":2}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, repeated)
			if err := tt.edit(t, o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(o.Text())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c := o.Copy(); c == nil || string(c.Text()) != tt.want {
				t.Errorf("the copy is another one: %v", c)
			}
		})
	}
}

// LastOfEach leaves what kube-apiserver's parser reads.
func TestLastOfEach(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		repeated:                     `{"a":{"y":[0],"\u0078":{"z":2},"w":0},"b":{"c":2}}`,
		`[{"a":1,"a":2}, {"b":1}]`:   `[{"a":2},{"b":1}]`,
		`{"a":1,"b":2,"a":3}`:        `{"b":2,"a":3}`,
		`{"":1,"":{"":[],"":null}}`:  `{"":{"":null}}`,
		`{ "a" : 1 , "b" : [ 2 ] }`:  `{ "a" : 1 , "b" : [ 2 ] }`, // nothing to do
		`"a"`:                        `"a"`,
		`[]`:                         `[]`,
		`{"a":{"b":1,"b":2},"a":{}}`: `{"a":{}}`,
	}
	for text, want := range tests {
		got := string(jsondoc.LastOfEach([]byte(text)))
		if got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
		var before, after any
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &before); err != nil {
			t.Fatal(err)
		}
		if strict, err := kjson.UnmarshalStrict([]byte(got), &after); err != nil || len(strict) > 0 {
			t.Errorf("%s: %v %v", got, strict, err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// An object with many duplicate names on many levels takes linear time.
func TestManyRepeatedNames(t *testing.T) {
	t.Parallel()
	const n = 100_000
	var members strings.Builder
	for i := range n {
		fmt.Fprintf(&members, `,"m%d":%d`, i%10, i)
	}
	o := parse(t, `{"a":{`+members.String()[1:]+`}}`)
	if got := string(get(t, o, "a", "m3").Text()); got != "99993" || get(t, o, "a").Len() != 10 {
		t.Errorf("m3 is %s, of %d members", got, get(t, o, "a").Len())
	}
	deep := strings.Repeat(`{"a":0,"a":`, 500) + "1" + strings.Repeat("}", 500)
	if got, want := string(jsondoc.LastOfEach([]byte(deep))), strings.Repeat(`{"a":`, 500)+"1"+strings.Repeat("}", 500); got != want {
		t.Errorf("got %s", got)
	}
}
