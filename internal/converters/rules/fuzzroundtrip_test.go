package rules_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// FuzzRoundTrip makes a valid object of a schema, whose shape the first text chooses, and converts it by the rules of one of
// the cases there and back: it comes back (law L1), and what it was meanwhile has nothing to prune (L6). Then somebody writes
// another valid object, of the second text, over the result, but for the annotations: going back and forth, it says what it
// said (L2).
func FuzzRoundTrip(f *testing.F) {
	var kinds []schemaKind
	for _, test := range allCases() {
		if test.drops == nil {
			kinds = append(kinds, newSchemaKind(f, test.pair))
		}
	}
	for i := range kinds {
		f.Add(uint8(i), false, "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", "\x02\x01\x02\x01\x02\x01\x02\x01")
		f.Add(uint8(i), true, "\x05\x04\x03\x02\x01\x02\x03\x04\x05\x06\x07\x08\x07\x06\x05\x04\x03\x02\x01\x02\x03\x04", "")
		f.Add(uint8(i), true, "", "\x0b\x0a\x09\x08\x07\x06\x05\x04\x03\x02\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c")
	}
	f.Fuzz(func(t *testing.T, which uint8, down bool, shape, edit string) {
		k, from, to := kinds[int(which)%len(kinds)], "v1beta1", "v1"
		if down {
			from, to = to, from
		}
		x := k.object(t, from, shape, nil)
		if x == nil {
			return
		}
		there := convert(t, k.Kind, string(x), from, to)
		k.nothingToPrune(t, to, there)
		if back := convert(t, k.Kind, there, to, from); !reflect.DeepEqual(shown(t, x, false), shown(t, []byte(back), false)) {
			t.Fatalf("%s\nbecame %s\nand then %s", x, there, back)
		}
		y := k.object(t, to, edit, asStored(t, []byte(there)))
		if y == nil {
			return
		}
		back := convert(t, k.Kind, string(y), to, from)
		if again := convert(t, k.Kind, back, from, to); !reflect.DeepEqual(shown(t, y, true), shown(t, []byte(again), true)) {
			t.Fatalf("%s\nbecame %s, was written over with %s\nwhich became %s\nand then %s", x, there, y, back, again)
		}
	})
}

// A schemaKind is a kind with the schemas of its versions.
type schemaKind struct {
	*converters.Kind

	crd *crdschema.CRD
}

func newSchemaKind(tb testing.TB, p pair) schemaKind {
	tb.Helper()
	crds, err := crdschema.Parse("crd.yaml", p.crd(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return schemaKind{p.kind(tb), crds[0]}
}

// object returns the text of an object of a version as the API server has it, with the annotations of another object, or nil if
// what the shape chooses is not valid.
func (k schemaKind) object(t *testing.T, version, shape string, old map[string]any) []byte {
	t.Helper()
	c := choices{shape}
	obj, meta := c.object(k.crd.Version(version).Root, 0), c.metadata()
	if was, _ := old["metadata"].(map[string]any); was["annotations"] != nil {
		meta["annotations"] = was["annotations"]
	}
	obj["apiVersion"], obj["kind"], obj["metadata"] = k.Group+"/"+version, k.Kind.Kind, meta
	obj = asStored(t, encoded(t, obj))
	v := k.crd.Version(version)
	v.Prune(obj)
	v.Default(obj)
	if len(v.Validate(obj)) > 0 {
		return nil
	}
	return encoded(t, obj)
}

func (k schemaKind) nothingToPrune(t *testing.T, version, text string) {
	t.Helper()
	obj := asStored(t, []byte(text))
	k.crd.Version(version).Prune(obj)
	if !reflect.DeepEqual(asStored(t, []byte(text)), obj) {
		t.Fatalf("%s has to be pruned: %s", text, encoded(t, obj))
	}
}

// asStored reads an object as the API server does.
func asStored(tb testing.TB, text []byte) map[string]any {
	tb.Helper()
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &obj); err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	return obj
}

func encoded(tb testing.TB, obj map[string]any) []byte {
	tb.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// shown is what is compared: numbers as they are written, and no labels and annotations where there are none; on demand
// without what webhookd keeps in annotations.
func shown(t *testing.T, text []byte, visible bool) map[string]any {
	t.Helper()
	var obj map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&obj); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	meta, _ := obj["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		entries, _ := meta[name].(map[string]any)
		for key := range entries {
			if visible && strings.HasPrefix(key, converters.StashAnnotation("")) {
				delete(entries, key)
			}
		}
		if len(entries) == 0 {
			delete(meta, name)
		}
	}
	if len(meta) == 0 {
		delete(obj, "metadata")
	}
	return obj
}

// choices are made by the characters of a text: at its end, the first choice is made, which is the smallest.
type choices struct{ text string }

func (c *choices) of(n int) int {
	if c.text == "" {
		return 0
	}
	b := c.text[0]
	c.text = c.text[1:]
	return int(b) % n
}

// object makes an object of a schema, without its metadata.
func (c *choices) object(n *crdschema.Node, depth int) map[string]any {
	obj := map[string]any{}
	for _, name := range n.Properties() {
		if depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		if n.IsRequired(name) || c.of(3) > 0 {
			obj[name] = c.value(n.Property(name), depth+1)
		}
	}
	if n.PreservesUnknown() && c.of(3) == 1 {
		obj["unknown"] = c.any(depth)
	}
	return obj
}

func (c *choices) metadata() map[string]any {
	meta := map[string]any{"name": "n"}
	for _, name := range []string{"labels", "annotations"} {
		if n := c.of(4); n > 1 {
			entries := map[string]any{}
			for range n - 1 {
				entries[[]string{"l", "x/y", "example.com/c"}[c.of(3)]] = []string{"", "a", "b"}[c.of(3)]
			}
			meta[name] = entries
		}
	}
	return meta
}

func (c *choices) value(n *crdschema.Node, depth int) any {
	if n.Nullable() && c.of(4) == 1 {
		return nil
	}
	if enum := n.Enum(); len(enum) > 0 {
		return json.RawMessage(enum[c.of(len(enum))])
	}
	switch n.Kind() {
	case crdschema.Object:
		return c.object(n, depth)
	case crdschema.Map:
		m := map[string]any{}
		for range c.of(4) {
			m[[]string{"a", "b", "x", "http", "x/y", "", "80"}[c.of(7)]] = c.value(n.Values(), depth+1)
		}
		return m
	case crdschema.Array:
		l := []any{}
		for range c.of(5) {
			l = append(l, c.value(n.Items(), depth+1))
		}
		return l
	default:
		return c.scalar(n.Kind(), depth)
	}
}

func (c *choices) scalar(kind crdschema.Kind, depth int) any {
	switch kind {
	case crdschema.String:
		return c.string()
	case crdschema.Integer:
		return json.Number([]string{"0", "1", "80", "-1", "600", "1024", "9007199254740993", "9223372036854775807", "-9223372036854775808"}[c.of(9)])
	case crdschema.Number:
		return []any{0, 1, 1.5, -0.1, 1e21, 1e-7, 80}[c.of(7)]
	case crdschema.Boolean:
		return c.of(2) == 1
	case crdschema.IntOrString:
		return []any{0, "", "10%", 80, "80", "http"}[c.of(6)]
	default:
		return c.any(depth)
	}
}

// string makes texts that codecs, templates and expressions of the cases have something to do with, and any others.
func (c *choices) string() string {
	known := []string{
		"", "a", "A", "B", "x", "b", "cpu", "http", "80", "1.5", "true", "null", "a:1", "a:b:c", ":", "-", "1Gi", "1000m", "10%", "30s", "{}", `{"a":1}`,
		"[1]", "a: 1\n", "a!", "YQ==", "git://x", "é\u2028<", "x-y", "1", "01", " a",
	}
	if i := c.of(len(known) + 4); i < len(known) {
		return known[i]
	}
	size := min(c.of(12), len(c.text))
	text := c.text[:size]
	c.text = c.text[size:]
	return strings.ToValidUTF8(text, "?")
}

// any makes JSON without a schema.
func (c *choices) any(depth int) any {
	if depth > 6 {
		return 0
	}
	switch c.of(7) {
	case 0:
		return c.string()
	case 1:
		return c.of(100)
	case 2:
		return []any{c.any(depth + 1), c.any(depth + 1)}[:c.of(3)]
	case 3:
		return map[string]any{fmt.Sprint("k", c.of(3)): c.any(depth + 1), "x": c.any(depth + 1)}
	case 4:
		return c.of(2) == 1
	case 5:
		return 0.5
	}
	return map[string]any{}
}
