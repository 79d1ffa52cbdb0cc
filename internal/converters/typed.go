package converters

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A textFunc converts the text of an object, given the schemas of the Go types of source and
// target.
type textFunc func(ctx context.Context, obj *jsondoc.Object, source, target *crdschema.Node) error

// typedFunc turns a function between Go types into one between texts.
func typedFunc[S, T any, PS typed[S], PT typed[T]](fn func(context.Context, PS, PT) error) textFunc {
	return func(ctx context.Context, obj *jsondoc.Object, source, target *crdschema.Node) error {
		src, dst := PS(new(S)), PT(new(T))
		if err := decodeTyped(obj, src, dst); err != nil {
			return err
		}
		was, err := treeOf(src) // before fn, which may change src
		if err != nil {
			return err
		}
		if err := fn(ctx, src, dst); err != nil {
			return err
		}
		now, err := treeOf(dst)
		if err != nil {
			return err
		}
		return rewriter{source, target}.value(obj.Node, was, now)
	}
}

// decodeTyped decodes the object into src, without managedFields, and its metadata into dst.
func decodeTyped(obj *jsondoc.Object, src, dst metav1.Object) error {
	meta, err := obj.Get("metadata")
	if err != nil {
		return err
	}
	metadata := []byte("null")
	if meta.Kind() != jsondoc.Invalid {
		if metadata, err = textWithout(meta, "managedFields", nil); err != nil {
			return err
		}
	}
	text, err := textWithout(obj.Node, "metadata", metadata)
	if err != nil {
		return err
	}
	if err := decode(jsondoc.LastOfEach(text), src); err != nil {
		return typeError(text, src)
	}
	return decode(append(append([]byte(`{"metadata":`), metadata...), '}'), dst)
}

// textWithout returns the text of n with the member name replaced, or left out if replacement is
// nil.
func textWithout(n *jsondoc.Node, name string, replacement []byte) ([]byte, error) {
	if n.Kind() != jsondoc.Map {
		return n.Text(), nil
	}
	text := []byte{'{'}
	err := n.Each(func(member string, value *jsondoc.Node) bool {
		of := value.Text()
		if member == name {
			of = replacement
		}
		if of != nil {
			if len(text) > 1 {
				text = append(text, ',')
			}
			text = append(jsondoc.AppendString(text, member), ':')
			text = append(text, of...)
		}
		return true
	})
	return append(text, '}'), err
}

// typeError says why text does not fit the Go type. It names fields and quotes no value. Only the
// standard decoder's error has the fields.
func typeError(text []byte, into any) error {
	fresh := reflect.New(reflect.TypeOf(into).Elem()).Interface()
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(text, fresh); errors.As(err, &mismatch) {
		return fmt.Errorf("cannot be decoded into the Go type %s, correct the object or the type: .%s", mismatch.Type, mismatch.Field)
	}
	return &jsondoc.PathError{Problem: fmt.Sprintf("cannot be decoded into the Go type %s, correct the object or the type", reflect.TypeOf(into).Elem()), Path: "."}
}

// treeOf decodes the JSON of v, with numbers as literals. Its metadata has only labels and
// annotations, all that a conversion may change.
func treeOf(v metav1.Object) (map[string]any, error) {
	text, err := encode(v)
	if err != nil {
		return nil, fmt.Errorf("converter set a value that JSON cannot represent, fix the converter: %T", v)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil || tree == nil {
		return nil, fmt.Errorf("go type does not encode as an object, fix the type: %T", v)
	}
	delete(tree, "apiVersion")
	delete(tree, "kind")
	all, _ := tree["metadata"].(map[string]any)
	metadata := map[string]any{}
	for _, name := range []string{"labels", "annotations"} {
		if members, found := all[name]; found {
			metadata[name] = members
		}
	}
	tree["metadata"] = metadata
	return tree, nil
}
