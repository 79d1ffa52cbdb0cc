package celvalue_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

const limit = 1 << 20

// node returns the schema of a field of a CRD whose spec has the properties.
func node(t *testing.T, property, schema string) *crdschema.Node {
	t.Helper()
	return crdschematest.Roots(t, property+": "+schema)[0].Property("spec").Property(property)
}

func TestScalarsBecomeTheTypesThatTheSchemaNames(t *testing.T) {
	t.Parallel()
	integer, number := node(t, "x", "{type: integer}"), node(t, "x", "{type: number}")
	for _, tt := range []struct {
		name, text string
		node       *crdschema.Node
		want       ref.Val
	}{
		{"string", `"a\u00e9\n"`, nil, types.String("aé\n")},
		{"true", `true`, nil, types.True},
		{"false", `false`, nil, types.False},
		{"null", `null`, nil, types.NullValue},
		{"integer", `9007199254740993`, nil, types.Int(9007199254740993)},
		{"smallest integer", `-9223372036854775808`, integer, types.Int(-9223372036854775808)},
		{"integer beyond int64", `9223372036854775808`, nil, types.Uint(9223372036854775808)},
		{"integer beyond uint64", `18446744073709551616`, nil, types.Double(18446744073709551616)},
		{"fraction", `1.50`, nil, types.Double(1.5)},
		{"whole number where the schema has numbers", `5`, number, types.Double(5)},
		{"integer that is spelt with a fraction", `5.0`, integer, types.Int(5)},
		{"whole number with a fraction, no schema", `5.0`, nil, types.Double(5)},
		{"exponent of an integer", `1e3`, integer, types.Int(1000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := celvalue.New([]byte(tt.text), tt.node); got.Type() != tt.want.Type() || got.Equal(tt.want) != types.True {
				t.Errorf("got %v %v, want %v %v", got.Type(), got, tt.want.Type(), tt.want)
			}
		})
	}
	if got := celvalue.New([]byte(`1e999`), nil); !types.IsError(got) {
		t.Errorf("1e999 is %v, want an error", got)
	}
}

func TestObjectsAreMaps(t *testing.T) {
	t.Parallel()
	o := celvalue.New([]byte(` {"b":1, "a":{"c":[1,2]}, "é\t":null} `[1:]), nil).(traits.Mapper)
	if got := o.Size(); got != types.Int(3) {
		t.Errorf("size %v", got)
	}
	if got, found := o.Find(types.String("b")); !found || got != types.Int(1) {
		t.Errorf("b is %v, %v", got, found)
	}
	if got, found := o.Find(types.String("é\t")); !found || got != types.NullValue {
		t.Errorf("é is %v, %v", got, found)
	}
	if got, found := o.Find(types.String("x")); found {
		t.Errorf("x is %v", got)
	}
	if got, _ := o.Find(types.Int(1)); !types.IsError(got) {
		t.Errorf("a number as key gives %v", got)
	}
	if !types.IsError(o.Get(types.String("x"))) || o.Contains(types.String("b")) != types.True {
		t.Error("Get or Contains is wrong")
	}
	var keys []string
	for it := o.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, string(it.Next().(types.String)))
	}
	if diff := cmp.Diff([]string{"a", "b", "é\t"}, keys); diff != "" {
		t.Error("keys in order:", diff)
	}
	other := celvalue.New([]byte(`{"é\t":null,"a":{"c":[1.0,2]},"b":1}`), nil)
	if o.Equal(other) != types.True || other.Equal(o) != types.True {
		t.Error("equal objects are not")
	}
	for _, text := range []string{`{"b":1}`, `{"b":1,"a":{"c":[1,3]},"é\t":null}`, `[]`, `"x"`} {
		if o.Equal(celvalue.New([]byte(text), nil)) != types.False {
			t.Error("equal to", text)
		}
	}
	if o.ConvertToType(types.TypeType) != types.MapType || o.ConvertToType(types.MapType) != o ||
		!types.IsError(o.ConvertToType(types.StringType)) {
		t.Error("ConvertToType is wrong")
	}
}

func TestOfANameThatIsThereTwiceTheLastOneCounts(t *testing.T) {
	t.Parallel()
	o := celvalue.New([]byte(`{"a":1,"\u0061":{"b":1,"b":2}}`), nil).(traits.Mapper)
	a, found := o.Find(types.String("a"))
	if !found || o.Size() != types.Int(1) || o.Equal(celvalue.New([]byte(`{"a":{"b":2}}`), nil)) != types.True {
		t.Errorf("a is %v, of %v members", a, o.Size())
	}
	native, err := o.ConvertToNative(reflect.TypeFor[map[string]any]())
	if err != nil {
		t.Errorf("%v: %v", native, err)
	}
}

func TestFieldsAreFoundByTheSpellingOfKubernetes(t *testing.T) {
	t.Parallel()
	n := node(t, "x", `{type: object, properties: {a-b: {type: integer}, a__dash__c: {type: integer}, a-c: {type: integer}}}`)
	o := celvalue.New([]byte(`{"a-b":1,"a__dash__c":2,"a-c":3,"z-z":4}`), n).(traits.Mapper)
	for name, want := range map[string]ref.Val{
		"a-b": types.Int(1), "a__dash__b": types.Int(1), "a__dash__c": types.Int(2), "a-c": types.Int(3), "z-z": types.Int(4),
	} {
		if got, _ := o.Find(types.String(name)); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got, found := o.Find(types.String("z__dash__z")); found {
		t.Error("what the schema does not name was found by another name:", got)
	}
}

func TestJSONOfWhatExpressionsMake(t *testing.T) {
	t.Parallel()
	m := func(pairs ...ref.Val) ref.Val {
		entries := map[ref.Val]ref.Val{}
		for pair := range slices.Chunk(pairs, 2) {
			entries[pair[0]] = pair[1]
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, entries)
	}
	l := func(values ...ref.Val) ref.Val { return types.NewRefValList(types.DefaultTypeAdapter, values) }
	for _, tt := range []struct {
		name string
		v    ref.Val
		want string
		err  string
	}{
		{name: "names in order", v: m(types.String("b"), types.Int(1), types.String("a"), l(types.True, types.NullValue)), want: `{"a":[true,null],"b":1}`},
		{name: "handed on", v: m(types.String("a"), celvalue.New([]byte(`{ "z" : 1.10,"y":[ ] }`), nil)), want: `{"a":{ "z" : 1.10,"y":[ ] }}`},
		{name: "doubles", v: l(types.Double(1), types.Double(0.1), types.Double(1e21), types.Double(1e-7)), want: `[1,0.1,1e+21,1e-7]`},
		{name: "uint", v: types.Uint(1 << 63), want: `9223372036854775808`},
		{name: "string", v: types.String("<\"\\\n\u2028>"), want: "\"<\\\"\\\\\\u000a\u2028>\""},
		{name: "no value", v: m(types.String("a"), types.OptionalNone, types.String("b"), types.OptionalOf(types.Int(1))), want: `{"b":1}`},
		{name: "no value in a list", v: l(types.OptionalNone), err: "optional.none() where a value is required"},
		{name: "bytes", v: types.Bytes("a"), err: "a value of type bytes has no JSON"},
		{name: "infinity", v: types.Double(math.Inf(1)), err: "an infinite number or NaN has no JSON"},
		{name: "keys", v: m(types.Int(1), types.Int(1)), err: "a map whose keys are not strings has no JSON"},
		{name: "size", v: types.String(strings.Repeat("a", limit)), err: celvalue.ErrTooLarge.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := celvalue.AppendJSON(nil, tt.v, limit)
			if err != nil != (tt.err != "") || err != nil && err.Error() != tt.err || err == nil && string(got) != tt.want {
				t.Errorf("got %.100s, %v, want %s%s", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestOrderedMapsIterateInOrder(t *testing.T) {
	t.Parallel()
	entries := map[ref.Val]ref.Val{}
	for _, c := range "hgfedcba" {
		entries[types.String(c)] = types.Int(c)
	}
	entries[types.Int(10)], entries[types.Int(9)], entries[types.False] = types.True, types.True, types.True
	m := celvalue.Ordered(types.NewRefValMap(types.DefaultTypeAdapter, entries)).(traits.Mapper)
	var got []any
	for it := m.Iterator(); it.HasNext() == types.True; {
		got = append(got, it.Next().Value())
	}
	if diff := cmp.Diff([]any{false, int64(9), int64(10), "a", "b", "c", "d", "e", "f", "g", "h"}, got); diff != "" {
		t.Error(diff)
	}
	if v := celvalue.Ordered(types.Int(1)); v != types.Int(1) {
		t.Error("no map:", v)
	}
}

// FuzzValue checks that a value is what encoding/json makes of its text, however it is read, and
// that its JSON is the same value.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,"x",null,true,{"c":1.5}]},"d":-0,"e":1e2}`, `[[],{},"",[[1]]]`, `9007199254740993`, `"\ud83d\ude00\u0000"`,
		`18446744073709551615`, `1e400`, `{"":{"":""}}`, `{"a":1,"a":2}`, `{"é":"\/"}`, `-9223372036854775808`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, look bool) {
		value, err := jsondoc.RawValue(text)
		if err != nil {
			return
		}
		var want any
		decoder := json.NewDecoder(bytes.NewReader(value.Text()))
		if err := decoder.Decode(&want); err != nil || hasDuplicates(value.Text()) {
			return // a number that is too large
		}
		v := celvalue.New(value.Text(), nil)
		if native, err := v.ConvertToNative(reflect.TypeFor[any]()); err == nil {
			if diff := cmp.Diff(want, plain(native)); diff != "" {
				t.Errorf("as a Go value: %s", diff)
			}
		}
		if diff := cmp.Diff(want, rebuilt(v)); diff != "" {
			t.Errorf("looked at: %s", diff)
		}
		if v.Equal(celvalue.New(value.Text(), nil)) != types.True {
			t.Error("not equal to itself")
		}
		if look {
			v = eager(v)
		}
		out, err := celvalue.AppendJSON(nil, v, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the JSON is another value: %s", diff)
		}
		if _, err := jsondoc.RawValue(out); err != nil {
			t.Errorf("jsondoc refuses it: %v", err)
		}
	})
}

// rebuilt reads all of a value.
func rebuilt(v ref.Val) any {
	switch v := v.(type) {
	case traits.Mapper:
		m := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			m[string(key.(types.String))] = rebuilt(v.Get(key))
		}
		return m
	case traits.Lister:
		l := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			l = append(l, rebuilt(it.Next()))
		}
		return l
	}
	return plain(v.Value())
}

// eager rebuilds the value from cel-go's own types.
func eager(v ref.Val) ref.Val {
	switch v := v.(type) {
	case traits.Mapper:
		m := map[ref.Val]ref.Val{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			m[key] = eager(v.Get(key))
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, m)
	case traits.Lister:
		var l []ref.Val
		for it := v.Iterator(); it.HasNext() == types.True; {
			l = append(l, eager(it.Next()))
		}
		return types.NewRefValList(types.DefaultTypeAdapter, l)
	}
	return v
}

// plain returns the value that encoding/json would make.
func plain(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case map[any]any:
		m := map[string]any{}
		for name, value := range v {
			m[name.(string)] = plain(value)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = plain(v[i])
		}
		return l
	}
	if v == types.NullValue.Value() {
		return nil
	}
	return v
}

// hasDuplicates reports whether an object inside has two members of one name.
func hasDuplicates(text []byte) bool {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return true
	}
	found := false
	inner := func() error {
		at, err := s.Skip()
		found = found || err == nil && hasDuplicates(s.Text(at))
		return err
	}
	switch s.Kind() {
	case jsondoc.Map:
		err = s.Members(func([]byte) error { return inner() })
	case jsondoc.Array:
		err = s.Elements(inner)
	default:
	}
	return found || err != nil
}
