package conversion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// typedVersions converts between the Go types of versions.
type typedVersions struct {
	types map[string]goType
	steps map[direction]step
}

// Convert implements Converter.
func (c *typedVersions) Convert(ctx context.Context, obj *Object, from, to string) error {
	_, err := c.convert(ctx, obj, direction{from, to}, c.types[from].json)
	return err
}

// convert converts obj, and returns how to find out whether that is lossless. The source's type is
// as the schema covers it.
func (c *typedVersions) convert(ctx context.Context, obj *Object, way direction, covered *jsonType) (*wayBack, error) {
	step := c.steps[way]
	if step == nil {
		return nil, &jsondoc.PathError{Problem: fmt.Sprintf("no Go types convert %s to %s, add a spoke", way.from, way.to), Path: ".apiVersion"}
	}
	source, target := c.types[way.from], c.types[way.to]
	src, dst := source.object(), target.object()
	known, err := source.decodeFrom(obj.document(), src, dst, covered)
	if err != nil {
		return nil, err
	}
	orig, err := source.pristine(obj.document(), src)
	if err != nil {
		return nil, err
	}
	if err := step(ctx, src, dst); err != nil {
		return nil, err
	}
	was, now, decodes, err := treesOf(orig, dst, source.json, target.json)
	if err != nil {
		return nil, err
	}
	r := rewriter{source: source.json, target: target.json, lost: new(bool)}
	if err := r.value(obj.node, was, now); err != nil {
		return nil, err
	}
	if !decodes || *r.lost {
		return nil, nil //nolint:nilnil // only the text tells
	}
	return &wayBack{orig, dst, source, c.steps[direction{way.to, way.from}], way.to, known}, nil
}

// pristine returns a copy of src, which was decoded from obj: a step may change its source.
func (t goType) pristine(obj *jsondoc.Object, src metav1.Object) (metav1.Object, error) {
	if o, is := src.(runtime.Object); is {
		if again, is := o.DeepCopyObject().(metav1.Object); is {
			return again, nil
		}
	}
	again := t.object()
	_, err := t.decodeFrom(obj, again, t.object(), t.json)
	return again, err
}

// decodeFrom decodes the object into src, without managedFields, and its metadata into dst. It
// reports whether all fields of the object are known to be covered, apart from metadata.
func (t goType) decodeFrom(obj *jsondoc.Object, src, dst metav1.Object, covered *jsonType) (known bool, err error) {
	if known, err = decodeObject(obj.Text(), src, covered); err != nil {
		reflect.ValueOf(src).Elem().SetZero()
		if err := decodeSlowly(obj, src); err != nil {
			return false, err
		}
	}
	objectMeta(src).DeepCopyInto(objectMeta(dst)) // goTypeOf has found both
	return known, nil
}

// decodeSlowly decodes any object, or says why it cannot be decoded. To most Go types null is the
// same as nothing; metav1.Duration and its like refuse it.
func decodeSlowly(obj *jsondoc.Object, src metav1.Object) error {
	own, err := copyOf(obj)
	if err == nil {
		err = own.Remove("metadata", "managedFields")
	}
	if err != nil || decodeLast(own.Text(), src) == nil {
		return err
	}
	reflect.ValueOf(src).Elem().SetZero()
	text := jsondoc.LastOfEach(own.Text())
	if dropNulls(own.Node) == nil && decodeLast(own.Text(), src) == nil {
		return nil
	}
	return typeError(text, src)
}

// objectMeta returns the metadata of a type that embeds metav1.ObjectMeta, nil of another one.
func objectMeta(obj metav1.Object) *metav1.ObjectMeta {
	accessor, is := obj.(metav1.ObjectMetaAccessor)
	if !is {
		return nil
	}
	meta, _ := accessor.GetObjectMeta().(*metav1.ObjectMeta)
	return meta
}

// dropNulls removes members that are null.
func dropNulls(n *jsondoc.Node) error {
	var problem error
	err := n.Filter(func(_ []byte, m jsondoc.Member) bool {
		value := m.Node()
		if n.Kind() == jsondoc.Map && value.Kind() == jsondoc.Null {
			return false
		}
		problem = cmp.Or(problem, dropNulls(value))
		return true
	})
	return cmp.Or(problem, err)
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
	text, err := jsondoc.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("converter set a value that JSON cannot represent, fix the converter: %T", v)
	}
	value, err := jsondoc.Decode(text, true)
	tree, is := value.(map[string]any)
	if err != nil || !is {
		return nil, fmt.Errorf("go type does not encode as an object, fix the type: %T", v)
	}
	delete(tree, "apiVersion")
	delete(tree, "kind")
	tree["metadata"] = tags(v)
	return tree, nil
}

// A wayBack is the reverse of a conversion between Go types, without text in between: the result's
// text decodes to dst, and what the conversion took out of the source's text is what src encodes
// to. So if dst converts back to src, the text converts back to the source's text.
type wayBack struct {
	src, dst metav1.Object
	source   goType
	step     step   // from dst's type to src's
	version  string // dst's
	known    bool   // all fields of the source's text are covered: see decodeObject
}

// isLossless reports whether dst converts back to src. It changes dst.
func (w *wayBack) isLossless(ctx context.Context) bool {
	back := w.source.object()
	src, isObject := w.src.(runtime.Object)
	dst, isObjectToo := w.dst.(runtime.Object)
	again, isObjectAgain := back.(runtime.Object)
	if !isObject || !isObjectToo || !isObjectAgain {
		return false
	}
	objectMeta(w.dst).DeepCopyInto(objectMeta(back)) // goTypeOf has found both
	dst.GetObjectKind().SetGroupVersionKind(src.GetObjectKind().GroupVersionKind().GroupKind().WithVersion(w.version))
	if w.step(ctx, w.dst, back) != nil {
		return false
	}
	src.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	again.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return reflect.DeepEqual(w.src, back)
}
