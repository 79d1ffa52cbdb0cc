package jsondoc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

func parse(t *testing.T, text string) *jsondoc.Object {
	t.Helper()
	o, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func raw(t *testing.T, text string) jsondoc.Value {
	t.Helper()
	v, err := jsondoc.RawValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func get(t *testing.T, o *jsondoc.Object, path ...string) *jsondoc.Node {
	t.Helper()
	n, err := o.Get(path...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An edit changes an object of a test.
type edit func(t *testing.T, o *jsondoc.Object) error

func set(value string, path ...string) edit {
	return func(t *testing.T, o *jsondoc.Object) error { t.Helper(); return o.Set(raw(t, value), path...) }
}

func remove(path ...string) edit {
	return func(_ *testing.T, o *jsondoc.Object) error { return o.Remove(path...) }
}

func move(from, to string) edit {
	return func(_ *testing.T, o *jsondoc.Object) error {
		_, err := o.Move(strings.Split(from, " "), strings.Split(to, " "))
		return err
	}
}

// look reads a value and edits nothing.
func look(path ...string) edit {
	return func(t *testing.T, o *jsondoc.Object) error {
		t.Helper()
		return get(t, o, path...).Each(func(_ string, value *jsondoc.Node) bool {
			return value.Each(func(string, *jsondoc.Node) bool { return true }) == nil
		})
	}
}

// What FuzzEdit's model does not say: white space, and the place of what is new.
func TestEdits(t *testing.T) {
	t.Parallel()
	const abc = `{"a":1,"b":{"c":2,"d":[3,{"e":4}]},"f":null}`
	tests := []struct {
		name, text string
		edits      []edit
		want       string
	}{
		{"none", abc, nil, abc},
		{"set the first", abc, []edit{set("9", "a")}, `{"a":9,"b":{"c":2,"d":[3,{"e":4}]},"f":null}`},
		{"set the only one", `{ "a" : 1 }`, []edit{set("9", "a")}, `{ "a" : 9 }`},
		{"set a new one", `{ "a" : 1 }`, []edit{set("9", "b")}, `{ "a" : 1 ,"b":9}`},
		{"set in an empty object", `{ }`, []edit{set("9", "a")}, `{"a":9}`},
		{"set two in an empty object", `{}`, []edit{set("9", "a"), set("8", "b")}, `{"a":9,"b":8}`},
		{"set a new one deep", abc, []edit{set("9", "b", "x")}, `{"a":1,"b":{"c":2,"d":[3,{"e":4}],"x":9},"f":null}`},
		{"set through absent", `{}`, []edit{set("9", "a", "b", "c"), set("8", "a", "b", "d")}, `{"a":{"b":{"c":9,"d":8}}}`},
		{
			"set inside an added value", `{"a":1}`,
			[]edit{set(`{ "x" : 5 ,"y":{"z":[ ]}}`, "b"), set("9", "b", "y", "z"), set("8", "b", "x")},
			`{"a":1,"b":{ "x" : 8 ,"y":{"z":9}}}`,
		},
		{"set the whole, then in it", abc, []edit{set(`{"n":1}`), set("2", "m")}, `{"n":1,"m":2}`},
		{"remove the first", abc, []edit{remove("a")}, `{"b":{"c":2,"d":[3,{"e":4}]},"f":null}`},
		{"remove the only one", `{ "a" : 1 }`, []edit{remove("a")}, `{}`},
		{"remove all", `{ "a" : 1 , "b" : 2 }`, []edit{remove("a"), remove("b")}, `{}`},
		{"remove between white space", "{ \"a\" : 1 ,\n \"b\" : 2 ,\n \"c\" : 3 }", []edit{remove("b")}, "{ \"a\" : 1 ,\n \"c\" : 3 }"},
		{"remove the first between white space", "{ \"a\" : 1 ,\n \"b\" : 2 }", []edit{remove("a")}, "{\n \"b\" : 2 }"},
		{"remove and set again", abc, []edit{remove("a"), set("9", "a")}, `{"b":{"c":2,"d":[3,{"e":4}]},"f":null,"a":9}`},
		{"remove all and set again", `{"a":1,"b":2}`, []edit{remove("b"), remove("a"), set("9", "a"), set("8", "c")}, `{"a":9,"c":8}`},
		{"remove the first in an added value", `{}`, []edit{set(`{"x":1,"y":2}`, "a"), set("3", "a", "z"), remove("a", "x"), remove("a", "y")}, `{"a":{"z":3}}`},
		{"move to another name", abc, []edit{move("a", "x")}, `{"b":{"c":2,"d":[3,{"e":4}]},"f":null,"x":1}`},
		{"move with its white space inside", `{"a":{ "b" : [ 1 ] } , "c":2}`, []edit{move("a", "d e")}, `{ "c":2,"d":{"e":{ "b" : [ 1 ] }}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, test.text)
			for i, edit := range test.edits {
				if err := edit(t, o); err != nil {
					t.Fatalf("edit %d: %v", i, err)
				}
			}
			if diff := cmp.Diff(test.want, string(o.Text())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditsThatFail(t *testing.T) {
	t.Parallel()
	const text = `{"s":"x","n":1,"a":[{"b":1}],"o":{"x":{"y":1,"y":2}},"b":true}`
	tests := []struct {
		name string
		edit edit
		want string
	}{
		{"set under a string", set("1", "s", "x"), "is a string, not an object: .s"},
		{"set far under a number", set("1", "n", "x", "y"), "is a number, not an object: .n"},
		{"set under a boolean", set("1", "b", "x"), "is a boolean, not an object: .b"},
		{"set under an array", set("1", "a", "0"), "is an array, not an object: .a"},
		{"set below a repeated name", set("1", "o", "x", "y", "z"), "is a number, not an object: .o.x.y"},
		{"remove the object itself", remove(), "cannot be removed: ."},
		{"set a name that is not UTF-8", set("1", "o", "\xff"), "cannot have a member whose name is not UTF-8: .o"},
		{"set under nothing", func(t *testing.T, o *jsondoc.Object) error {
			t.Helper()
			return get(t, o, "absent").SetMember("x", jsondoc.IntValue(1))
		}, "is absent, not an object: ."},
		{"set a member of an element", func(t *testing.T, o *jsondoc.Object) error {
			t.Helper()
			var err error
			if err := get(t, o, "a").Each(func(_ string, n *jsondoc.Node) bool {
				b, getErr := n.Member("b")
				err = errors.Join(getErr, b.SetMember("x", jsondoc.IntValue(1)))
				return true
			}); err != nil {
				t.Error(err)
			}
			return err
		}, "is a number, not an object: .a[0].b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, text)
			err := test.edit(t, o)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := string(o.Text()); got != text {
				t.Errorf("it changed the object to %s", got)
			}
		})
	}
}

func TestMoveThatCannotSet(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":1,"b":2}`)
	found, err := o.Move([]string{"a"}, []string{"b", "c"})
	if !found || err == nil || err.Error() != "is a number, not an object: .b" {
		t.Errorf("got %v, %v", found, err)
	}
	if got := string(o.Text()); got != `{"b":2}` {
		t.Errorf("got %s", got)
	}
	if _, err := o.Move(nil, []string{"x"}); err == nil {
		t.Error("the object was moved into itself")
	}
	if found, err := o.Move([]string{"b"}, nil); !found || err != nil || string(o.Text()) != "2" {
		t.Errorf("move to the top: %v, %v, %s", found, err, o.Text())
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"list":[ 1 , {"a":[true]} ,null, "x" ]}`)
	var paths []string
	err := get(t, o, "list").Each(func(name string, value *jsondoc.Node) bool {
		paths = append(paths, name+value.Path())
		switch value.Kind() {
		case jsondoc.Number, jsondoc.Null:
			value.Replace(jsondoc.StringValue(value.Path()))
		default:
			if err := value.SetMember("b", jsondoc.IntValue(-1)); err != nil {
				t.Error(err)
			}
		}
		return value.Kind() != jsondoc.String || len(paths) < 3
	})
	if diff := cmp.Diff([]string{".list[0]", ".list[1]", ".list[2]"}, paths); diff != "" || err != nil {
		t.Errorf("error %v, paths (-want +got):\n%s", err, diff)
	}
	const want = `{"list":[ ".list[0]" , {"a":[true],"b":-1} ,".list[2]", "x" ]}`
	if got := string(o.Text()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNodesThatAreGone edits nodes that were removed or replaced, which must not change the object.
func TestNodesThatAreGone(t *testing.T) {
	t.Parallel()
	edits := map[string]func(t *testing.T, n *jsondoc.Node){
		"Replace": func(_ *testing.T, n *jsondoc.Node) { n.Replace(jsondoc.IntValue(9)) },
		"SetMember": func(t *testing.T, n *jsondoc.Node) {
			t.Helper()
			if err := n.SetMember("z", jsondoc.IntValue(9)); err != nil {
				t.Error(err)
			}
		},
		"RemoveMember": func(t *testing.T, n *jsondoc.Node) {
			t.Helper()
			if err := n.RemoveMember("c"); err != nil {
				t.Error(err)
			}
		},
	}
	gone := map[string]struct {
		edit edit
		want string
	}{
		"removed":            {remove("a", "b"), `{"a":{"x":1},"d":2}`},
		"its parent removed": {remove("a"), `{"d":2}`},
		"parent replaced":    {set("5", "a"), `{"a":5,"d":2}`},
		"moved":              {move("a b", "e"), `{"a":{"x":1},"d":2,"e":{"c":[ 0 ]}}`},
		"all replaced":       {set(`{"new":1}`), `{"new":1}`},
	}
	for how, edit := range edits {
		for what, test := range gone {
			t.Run(what+", then "+how, func(t *testing.T) {
				t.Parallel()
				o := parse(t, `{"a":{"b":{"c":[ 0 ]},"x":1},"d":2}`)
				n := get(t, o, "a", "b")
				inner := get(t, o, "a", "b", "c")
				if err := test.edit(t, o); err != nil {
					t.Fatal(err)
				}
				edit(t, n)
				inner.Replace(jsondoc.IntValue(7))
				if got := string(o.Text()); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			})
		}
	}
}

// TestNodeOfAValueThatIsGone edits a node that was removed from a value that was then replaced.
func TestNodeOfAValueThatIsGone(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":{"b":{"c":1},"d":{"e":1}}}`)
	b, d := get(t, o, "a", "b"), get(t, o, "a", "d")
	if err := errors.Join(o.Remove("a", "b"), o.Set(raw(t, `{"x":0}`), "a")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.SetMember("c", jsondoc.IntValue(2)), d.RemoveMember("e")); err != nil {
		t.Fatal(err)
	}
	if got := string(o.Text()); got != `{"a":{"x":0}}` {
		t.Errorf("got %s", got)
	}
}

func TestUntouched(t *testing.T) {
	t.Parallel()
	const text = `{"m":{"name":"x","labels":{"a":"b"}},"s":{"t":1}}`
	tests := []struct {
		name string
		edit edit
		want map[string]bool // by path
	}{
		{"nothing", look("m"), map[string]bool{"m": true, "m name": true, "s": true}},
		{"a member set", set(`"y"`, "m", "name"), map[string]bool{"m": false, "m name": false, "m labels": true, "s": true}},
		{"a member set to what it was", set(`"x"`, "m", "name"), map[string]bool{"m": false, "m name": false}},
		{"a member removed", remove("m", "labels", "a"), map[string]bool{"m": false, "m labels": false, "m name": true}},
		{"a member added", set("1", "m", "x"), map[string]bool{"m": false, "m x": false, "m labels": true}},
		// The members of a value that was set are not the object's own, even without an edit.
		{"the whole replaced", set(`{"name":"z","labels":{"a":"b"}}`, "m"), map[string]bool{"m": false, "m name": false, "m labels a": false}},
		{"a subtree moved here", move("s", "m"), map[string]bool{"m": false, "m t": false}},
		{"absent", remove("m"), map[string]bool{"m": false, "s": true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, text)
			if err := test.edit(t, o); err != nil {
				t.Fatal(err)
			}
			for path, want := range test.want {
				if got := get(t, o, strings.Split(path, " ")...).Untouched(); got != want {
					t.Errorf("%s: Untouched is %v, want %v", path, got, want)
				}
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	const text = `{"s":"a\u00e9","n":null,"o":{"":{"a.b":[1]}},"dup":{"x":1,"x":2},"f":false,"num":-1.50}`
	tests := []struct {
		name string
		path []string
		want string
		kind jsondoc.Kind
		str  string
		err  string
	}{
		{"the object", nil, `{"s"`, jsondoc.Map, "", ""},
		{"string", []string{"s"}, `"a\u00e9"`, jsondoc.String, "aé", ""},
		{"null is a value", []string{"n"}, "null", jsondoc.Null, "", ""},
		{"boolean", []string{"f"}, "false", jsondoc.Bool, "", ""},
		{"number", []string{"num"}, "-1.50", jsondoc.Number, "", ""},
		{"odd names", []string{"o", "", "a.b"}, "[1]", jsondoc.Array, "", ""},
		{"absent", []string{"x"}, "", jsondoc.Invalid, "", ""},
		{"below absent", []string{"x", "y", "z"}, "", jsondoc.Invalid, "", ""},
		{"below null", []string{"n", "y"}, "", jsondoc.Invalid, "", ""},
		{"below a string", []string{"s", "y"}, "", jsondoc.Invalid, "", ""},
		{"below an array", []string{"o", "", "a.b", "0"}, "", jsondoc.Invalid, "", ""},
		{"name that is not UTF-8", []string{"\xff"}, "", jsondoc.Invalid, "", ""},
		{"object with a repeated name", []string{"dup"}, `{"x":1,"x":2}`, jsondoc.Map, "", ""},
		{"repeated name", []string{"dup", "x"}, "2", jsondoc.Number, "", ""},
		{"next to a duplicate name", []string{"dup", "y", "z"}, "", jsondoc.Invalid, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n, err := parse(t, text).Get(test.path...)
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if got := string(n.Text()); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("text is %s, want %s", got, test.want)
			}
			if n.Kind() != test.kind {
				t.Errorf("kind is %q, want %q", n.Kind(), test.kind)
			}
			if text, ok := n.Str(); text != test.str || ok != (test.kind == jsondoc.String) {
				t.Errorf("Str is %q, %v", text, ok)
			}
			if n != nil && n.Path() != jsondoc.FormatPath(test.path...) {
				t.Errorf("Path is %s, want %s", n.Path(), jsondoc.FormatPath(test.path...))
			}
		})
	}
}

func TestNilNode(t *testing.T) {
	t.Parallel()
	var n *jsondoc.Node
	if text, ok := n.Str(); n.Kind() != jsondoc.Invalid || n.Kind().String() != "absent" || text != "" || ok || n.Text() != nil ||
		n.Untouched() || n.Path() != "." || string(n.Value().Text()) != "null" {
		t.Error("a nil node is more than nothing")
	}
	member, err := n.Member("x")
	if member != nil || err != nil || n.RemoveMember("x") != nil {
		t.Error("a nil node has members")
	}
	if err := n.Each(func(string, *jsondoc.Node) bool { t.Error("a nil node has members"); return true }); err != nil {
		t.Error(err)
	}
	var o jsondoc.Object
	if n, err := o.Get("a", "b"); n != nil || err != nil || o.Remove("a") != nil {
		t.Errorf("zero object: %v, %v", n, err)
	}
	if err := o.Set(jsondoc.IntValue(1), "a"); err == nil {
		t.Error("the zero object takes a value")
	}
}

func TestFormatPath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		want string
		path []string
	}{
		{".", nil},
		{".spec.host_Port9", []string{"spec", "host_Port9"}},
		{`.metadata.annotations["a.b/c-d"]`, []string{"metadata", "annotations", "a.b/c-d"}},
		{`[""]`, []string{""}},
		{`["\"]\n\x00"].a`, []string{"\"]\n\x00", "a"}},
		{`["\u00e9"]["\U0001f600"]["\xff"]`, []string{"é", "😀", "\xff"}},
		{`["@"]["["]["` + "`" + `"]["{"]`, []string{"@", "[", "`", "{"}},
	}
	for _, test := range tests {
		if got := jsondoc.FormatPath(test.path...); got != test.want {
			t.Errorf("%q: got %s, want %s", test.path, got, test.want)
		}
	}
}

func TestAddMember(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, member string
		added, fails       bool
		want               string
	}{
		{"a new one goes behind the others", `{"o":{"a": 1}}`, "b", true, false, `{"o":{"a": 1,"b":true}}`},
		{"into an empty object", `{"o":{ }}`, "b", true, false, `{"o":{"b":true}}`},
		{"one that is there stays", `{"o":{"b": 1}}`, "b", false, false, `{"o":{"b": 1}}`},
		{"one that is there under an escaped name", `{"o":{"\u0062": 1}}`, "b", false, false, `{"o":{"\u0062": 1}}`},
		{"next to a duplicate name", `{"o":{"b":1,"b":2}}`, "c", true, false, `{"o":{"b":2,"c":true}}`},
		{"two of one name stay", `{"o":{"b":1,"b":2}}`, "b", false, false, `{"o":{"b":1,"b":2}}`},
		{"no object", `{"o":[]}`, "b", true, true, `{"o":[]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, test.text)
			value, err := jsondoc.RawValue([]byte("true"))
			if err != nil {
				t.Fatal(err)
			}
			added, err := get(t, o, "o").AddMember(jsondoc.NameOf(test.member), value)
			if (err != nil) != test.fails || !test.fails && added != test.added {
				t.Errorf("added %t, %v", added, err)
			}
			if got := string(o.Text()); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
