package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// same means a value that source and target share at one path, with one Go type. Most of an
// object is that, and need not be encoded (BenchmarkConvert of examples/custom-server/database).
type same struct{}

// treesOf returns the JSON of two objects of Go types, with numbers as literals. Of metadata it has
// only labels and annotations, all that a conversion may change. It also reports whether dst is
// known to be what its JSON decodes to.
func treesOf(src, dst metav1.Object, source, target *jsonType) (was, now map[string]any, decodes bool, err error) {
	if source.shape != plain || target.shape != plain {
		if was, err = treeOf(src); err == nil {
			now, err = treeOf(dst)
		}
		return was, now, false, err
	}
	was, now = map[string]any{}, map[string]any{}
	c := &comparison{decodes: true}
	from, to := typedValue{reflect.ValueOf(src).Elem(), source}, typedValue{reflect.ValueOf(dst).Elem(), target}
	if err := c.pairs(from, to, was, now, true); err != nil {
		return nil, nil, false, fmt.Errorf("converter set a value that JSON cannot represent, fix the converter: %T", dst)
	}
	if maps.Equal(src.GetLabels(), dst.GetLabels()) && maps.Equal(src.GetAnnotations(), dst.GetAnnotations()) {
		was["metadata"], now["metadata"] = same{}, same{}
	} else {
		was["metadata"], now["metadata"] = tags(src), tags(dst)
	}
	return was, now, c.decodes, nil
}

// A comparison is that of two objects.
type comparison struct {
	decodes bool // so far, the second object is what its JSON decodes to
}

// A typedValue is a value with the description of its type.
type typedValue struct {
	reflect.Value
	*jsonType
}

// field returns the value of a field.
func (v typedValue) field(f jsonField) typedValue {
	return typedValue{v.FieldByIndex(f.index), f.jsonType}
}

// hides notes whether a plain struct has fields that its JSON lacks.
func (c *comparison) hides(v typedValue) {
	c.decodes = c.decodes && !slices.ContainsFunc(v.hidden, func(index []int) bool { return !v.FieldByIndex(index).IsZero() })
}

// tags returns labels and annotations.
func tags(obj metav1.Object) map[string]any {
	metadata := map[string]any{}
	for name, members := range map[string]map[string]string{"labels": obj.GetLabels(), "annotations": obj.GetAnnotations()} {
		if len(members) == 0 {
			continue
		}
		all := make(map[string]any, len(members))
		for key, value := range members {
			all[key] = value
		}
		metadata[name] = all
	}
	return metadata
}

// pairs adds the members of two plain structs to trees, without those that objects share.
func (c *comparison) pairs(a, b typedValue, was, now map[string]any, objects bool) error {
	c.hides(b)
	for name, f := range a.fields {
		if objects && isHead(name) {
			continue
		}
		v := a.field(f)
		g, both := b.fields[name]
		if !both {
			if err := new(comparison).put(f, v, name, was); err != nil {
				return err
			}
			continue
		}
		if err := c.pair(v, b.field(g), f, g, name, was, now); err != nil {
			return err
		}
	}
	for name, g := range b.fields {
		if _, both := a.fields[name]; both || objects && isHead(name) {
			continue
		}
		if err := c.put(g, b.field(g), name, now); err != nil {
			return err
		}
	}
	return nil
}

// pair adds two members of one name.
func (c *comparison) pair(v, w typedValue, f, g jsonField, name string, was, now map[string]any) error {
	if f.omits(v.Value) || g.omits(w.Value) {
		return c.both(v, w, f, g, name, was, now)
	}
	if v.Type() == w.Type() && equal(v.Value, w.Value) {
		was[name], now[name] = same{}, same{}
		return nil
	}
	if x, y := v.pointee(), w.pointee(); x.isPlain() && y.isPlain() {
		c.decodes = c.decodes && (v.Kind() == reflect.Pointer) == (w.Kind() == reflect.Pointer)
		below, into := map[string]any{}, map[string]any{}
		was[name], now[name] = below, into
		return c.pairs(x, y, below, into, false)
	}
	return c.both(v, w, f, g, name, was, now)
}

// both adds two members that are not compared any further.
func (c *comparison) both(v, w typedValue, f, g jsonField, name string, was, now map[string]any) error {
	if v.Kind() == reflect.Struct && isNilable(w.Value) || w.Kind() == reflect.Struct && isNilable(v.Value) {
		c.decodes = false // both may encode to {}, which an absent field is for one of them only
	}
	if err := new(comparison).put(f, v, name, was); err != nil { // whether the source decodes does not matter
		return err
	}
	return c.put(g, w, name, now)
}

// equal is reflect.DeepEqual, without a copy of what has an address.
func equal(v, w reflect.Value) bool {
	if v.CanAddr() && w.CanAddr() {
		v, w = v.Addr(), w.Addr()
	}
	return reflect.DeepEqual(v.Interface(), w.Interface())
}

func isNilable(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // others have no nil, or no JSON
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return true
	}
	return false
}

// put adds the JSON of a value to a tree, and notes whether that decodes to the value.
func (c *comparison) put(f jsonField, v typedValue, name string, tree map[string]any) (err error) {
	if f.omits(v.Value) {
		c.decodes = c.decodes && v.IsZero()
		return nil
	}
	tree[name], err = c.tree(v)
	return err
}

// tree returns the JSON of a value.
func (c *comparison) tree(v typedValue) (any, error) {
	x := v.pointee()
	if x.isPlain() {
		return c.members(x)
	}
	if value, is := x.literal(); is {
		return value, nil
	}
	text, err := jsondoc.Encode(addressOf(v.Value).Interface())
	if err != nil {
		return nil, err
	}
	if c.decodes {
		again := reflect.New(v.Type())
		c.decodes = decode(text, again.Interface()) == nil && equal(again.Elem(), v.Value)
	}
	return jsondoc.Decode(text, true)
}

// members returns the JSON of a plain struct.
func (c *comparison) members(v typedValue) (any, error) {
	c.hides(v)
	tree := make(map[string]any, len(v.fields))
	for name, f := range v.fields {
		if err := c.put(f, v.field(f), name, tree); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// pointee returns the value that pointers lead to, or no value.
func (v typedValue) pointee() typedValue {
	for v.Kind() == reflect.Pointer {
		v = typedValue{v.Elem(), v.elem}
	}
	return v
}

func (v typedValue) isPlain() bool { return v.IsValid() && v.shape == plain }

// literal returns the JSON of a scalar, as jsondoc.Decode does.
func (v typedValue) literal() (value any, is bool) {
	switch {
	case !v.IsValid() || v.shape != scalar:
		return nil, false
	case v.Kind() == reflect.String:
		return v.String(), utf8.ValidString(v.String())
	case v.Kind() == reflect.Bool:
		return v.Bool(), true
	case v.CanInt():
		return json.Number(strconv.FormatInt(v.Int(), 10)), true
	}
	return json.Number(strconv.FormatUint(v.Uint(), 10)), true
}
