package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A decoder does for objects of Go types what decodeLast does, in one pass (BenchmarkReview in
// contrib/controllerruntime). It decodes what is common itself, and leaves each other value to
// decodeLast.
type decoder struct {
	scan   jsondoc.Scanner
	text   string // a copy, of which all strings without escapes are parts
	depth  int    // of open structs
	inMeta bool   // the member of the object is its metadata
	known  bool   // so far, all fields of the text are covered, apart from metadata
}

// decodeObject decodes the text of an object without its managedFields. into has nothing but its
// apiVersion and kind. After an error into has anything. It reports whether all fields of the text
// are known to be covered, apart from metadata.
func decodeObject(text []byte, into metav1.Object, t *jsonType) (known bool, err error) {
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	switch {
	case err != nil:
		return false, err
	case t.shape != plain || t.fields["metadata"].jsonType == nil || t.fields["metadata"].shape != plain:
		return false, errors.ErrUnsupported
	}
	d := decoder{scan: scan, text: string(text), known: true}
	err = d.value(typedValue{reflect.ValueOf(into).Elem(), t})
	return d.known && err == nil, err
}

// value decodes the value at the scanner.
func (d *decoder) value(v typedValue) error {
	kind := d.scan.Kind()
	switch {
	case v.Kind() == reflect.Pointer && kind != jsondoc.Null:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(typedValue{v.Elem(), v.elem})
	case kind == jsondoc.Map && v.shape == plain:
		return d.members(v)
	case kind == jsondoc.Array && v.shape == list:
		return d.elements(v)
	case kind == jsondoc.Map && v.shape == dict:
		return d.entries(v)
	}
	at, err := d.scan.Skip()
	if err != nil {
		return err
	}
	return d.leaf(at, v)
}

func (d *decoder) members(v typedValue) error {
	d.depth++
	err := d.scan.Members(func(name []byte) error {
		if d.depth == 1 {
			d.inMeta = string(name) == "metadata"
		}
		f, found := v.fields[string(name)]
		d.known = d.known && (found && !f.uncovered || d.inMeta)
		if !found || d.inMeta && d.depth == 2 && string(name) == "managedFields" {
			_, err := d.scan.Skip()
			return err
		}
		return d.value(v.field(f))
	})
	d.depth--
	return err
}

// firstGrowth is the memory in bytes that a list has at first. It costs less to have some left than
// to grow for each of the first elements.
const firstGrowth = 512

func (d *decoder) elements(v typedValue) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // an empty list is not nil
	return d.scan.Elements(func() error {
		i := v.Len()
		more := 1
		if i == 0 {
			more = max(1, firstGrowth/max(1, int(v.Type().Elem().Size())))
		}
		v.Grow(more)
		v.SetLen(i + 1)
		return d.value(typedValue{v.Index(i), v.elem})
	})
}

func (d *decoder) entries(v typedValue) error {
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	return d.scan.Members(func(name []byte) error {
		key.SetString(string(name))
		value.SetZero()
		err := d.value(typedValue{value, v.elem})
		if err == nil {
			v.SetMapIndex(key, value)
		}
		return err
	})
}

// leaf decodes a value that has no parts, or none that are known.
func (d *decoder) leaf(at jsondoc.Span, v typedValue) error {
	text := d.scan.Text(at)
	switch {
	case text[0] == 'n': // null
	case v.shape != scalar:
		if own, is := reflect.TypeAssert[json.Unmarshaler](v.Addr()); is && text[0] != '{' && text[0] != '[' {
			return own.UnmarshalJSON(text)
		}
	case v.Kind() == reflect.String && text[0] == '"':
		if bytes.IndexByte(text, '\\') < 0 {
			v.SetString(d.text[at.Start+1 : at.End-1])
		} else {
			v.SetString(jsondoc.Unquote(text))
		}
		return nil
	case v.CanInt():
		if i, err := strconv.ParseInt(string(text), 10, 64); err == nil && !v.OverflowInt(i) {
			v.SetInt(i)
			return nil
		}
	case v.Kind() == reflect.Bool && (text[0] == 't' || text[0] == 'f'):
		v.SetBool(text[0] == 't')
		return nil
	}
	return decodeLast(text, v.Addr().Interface())
}

// decode reads JSON as the API server does: names are case-sensitive, numbers are int64 where they
// fit.
func decode(text []byte, into any) error { return utiljson.Unmarshal(text, into) }

// decodeLast is decode for text where the last of the values counts that have one name.
func decodeLast(text []byte, into any) error { return decode(jsondoc.LastOfEach(text), into) }

// render encodes v, which a converter set at path.
func render(v any, path string) (jsondoc.Value, error) {
	text, err := jsondoc.Encode(v)
	if err != nil {
		return jsondoc.Value{}, unrepresentable(path)
	}
	return jsondoc.RawValue(text)
}

func unrepresentable(path string) error {
	return &jsondoc.PathError{Problem: "converter set a value that JSON cannot represent, fix the converter", Path: path}
}

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group
}
