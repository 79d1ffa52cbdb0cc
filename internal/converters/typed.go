package converters

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// typedFunc makes a function between Go types one between texts.
func typedFunc[S, T any, PS typed[S], PT typed[T]](
	fn func(context.Context, PS, PT) error,
) func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	return func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		src, dst := PS(new(S)), PT(new(T))
		if err := decodeTyped(obj, src, dst); err != nil {
			return err
		}
		before := copyNotes(dst)
		rest := stashOf(dst, to+restSuffix)
		forgetStash(dst, from)
		if orphaned(obj, stashOf(src, to), reflect.TypeFor[S]()) {
			forgetStash(src, to)
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
		forgetStash(dst, to)
		m := merger{from: from, to: to}
		m.members(obj.Node, []string{}, was, now, reflect.TypeFor[S](), reflect.TypeFor[T]())
		m.restore(obj.Node, rest.Node, nil, reflect.TypeFor[S](), reflect.TypeFor[T]())
		m.report(writeNotes(obj, before, copyNotes(dst)))
		if m.rest != nil {
			m.report(PutStash(obj, from+restSuffix, m.rest))
		}
		return errors.Join(m.problems...)
	}
}

// decodeTyped fills src with the object but for its managedFields, which no conversion needs, and dst with its metadata.
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
	if err := decode(text, src); err != nil {
		return typeError(text, src)
	}
	return decode(append(append([]byte(`{"metadata":`), metadata...), '}'), dst)
}

// textWithout returns the text of n but for the member name, which is replaced, or left out.
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
			text = append(append(text, jsondoc.StringValue(member).Text()...), ':')
			text = append(text, of...)
		}
		return true
	})
	return append(text, '}'), err
}

// typeError says why text does not fit the Go type, with the path and without the value. Only the standard decoder's
// error tells them apart.
func typeError(text []byte, into any) error {
	fresh := reflect.New(reflect.TypeOf(into).Elem()).Interface()
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(text, fresh); errors.As(err, &mismatch) {
		return &jsondoc.PathError{
			Problem: fmt.Sprintf("does not fit the Go type %s, mend the object or the type", mismatch.Type),
			Path:    "." + mismatch.Field,
		}
	}
	return &jsondoc.PathError{Problem: "does not fit the Go type " + reflect.TypeOf(into).Elem().String() + ", mend the object or the type", Path: "."}
}

// treeOf returns what v says beside its apiVersion, kind and metadata, numbers as their literals.
func treeOf(v any) (map[string]any, error) {
	text, err := encode(v)
	if err != nil {
		return nil, fmt.Errorf("converter set what JSON cannot say, mend the converter: %T", v)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("go type does not encode as an object, mend the type: %T", v)
	}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(tree, name)
	}
	return tree, nil
}

// notes are the labels and annotations of an object: what a conversion may change of its metadata.
type notes map[string]map[string]string

func copyNotes(obj metav1.Object) notes {
	return notes{"labels": maps.Clone(obj.GetLabels()), "annotations": maps.Clone(obj.GetAnnotations())}
}

// restSuffix ends the name of the stash that HubSpoke itself keeps, so that it and SaveStash don't meet.
const restSuffix = ".rest"

// stashOf returns the stash of version; a malformed one is an empty one.
func stashOf(obj metav1.Object, version string) *jsondoc.Object {
	stash, err := jsondoc.ParseObject([]byte(obj.GetAnnotations()[StashAnnotation(version)]))
	if err != nil {
		return emptyObject()
	}
	return stash
}

// orphaned is true of a stash that keeps a part of an object, such as spec, that its user has removed since.
func orphaned(obj, stash *jsondoc.Object, source reflect.Type) bool {
	removed := false
	err := stash.Each(func(name string, kept *jsondoc.Node) bool {
		_, known := typeOfMember(source, name)
		part, err := obj.Get(name)
		removed = err != nil || known && kept.Kind() == jsondoc.Map && part.Kind() != jsondoc.Map
		return !removed
	})
	return removed || err != nil
}

func emptyObject() *jsondoc.Object {
	o, err := jsondoc.ParseObject([]byte("{}"))
	if err != nil {
		panic("converters: " + err.Error())
	}
	return o
}

func forgetStash(obj metav1.Object, version string) {
	annotations := maps.Clone(obj.GetAnnotations())
	delete(annotations, StashAnnotation(version))
	delete(annotations, StashAnnotation(version+restSuffix))
	obj.SetAnnotations(annotations)
}

// writeNotes writes the labels and annotations that changed.
func writeNotes(obj *jsondoc.Object, before, after notes) error {
	for _, field := range []string{"annotations", "labels"} {
		was, now := before[field], after[field]
		if maps.Equal(was, now) {
			continue
		}
		if len(now) == 0 {
			if err := obj.Remove("metadata", field); err != nil {
				return err
			}
			continue
		}
		for name := range was {
			if _, stays := now[name]; !stays {
				if err := obj.Remove("metadata", field, name); err != nil {
					return err
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if value, found := was[name]; !found || value != now[name] {
				if err := obj.Set(jsondoc.StringValue(now[name]), "metadata", field, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
