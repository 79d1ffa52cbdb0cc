package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A GuardError says that a converter changed what it must leave alone.
type GuardError struct {
	// Paths are the places in the object.
	Paths []string
}

// Error implements error.
func (e *GuardError) Error() string {
	return "converter changed metadata other than labels and annotations, mend the converter: " + strings.Join(e.Paths, ", ")
}

// guard holds a converted object against its source: the kind and all metadata but labels and annotations must be the
// source's (invariant I4). It then gives the object the source's metadata, byte for byte, with the labels and annotations
// of the result, and {} where the source had none, which server-side apply needs (kubernetes#117356).
//
// Metadata that nobody touched costs nothing; after that bytes are compared, and decoded values only where they differ.
func (c *conversion) guard(src jsondoc.Outline, obj *jsondoc.Object) error {
	if kind, err := obj.Get("kind"); err != nil || !kind.Untouched() && !c.sameText(kind, src, "kind") {
		return &GuardError{[]string{".kind"}}
	}
	meta, err := obj.Get("metadata")
	if err != nil {
		return err
	}
	if meta.Untouched() && meta.Kind() == jsondoc.Map {
		return nil
	}
	before, err := c.sourceMetadata(src)
	if err != nil {
		return err
	}
	if !meta.Untouched() {
		if err := compareMetadata(before, meta); err != nil {
			return err
		}
	}
	return restoreMetadata(obj, before, meta)
}

func (c *conversion) sameText(n *jsondoc.Node, src jsondoc.Outline, name string) bool {
	at, found := c.doc.Member(src, name)
	return found && string(c.doc.Text(at)) == string(n.Text())
}

// sourceMetadata opens the metadata that the object came with; {} stands for none.
func (c *conversion) sourceMetadata(src jsondoc.Outline) (*jsondoc.Object, error) {
	text := []byte("{}")
	if at, found := c.doc.Member(src, "metadata"); found {
		text = c.doc.Text(at)
	}
	if string(text) == "null" {
		text = []byte("{}")
	}
	if text[0] != '{' {
		return nil, &jsondoc.PathError{Problem: "is not an object, mend the stored object", Path: ".metadata"}
	}
	return jsondoc.ParseObject(text)
}

// compareMetadata reports every member but labels and annotations that differs. A null that one side has not is the noise
// of typed structs and no difference.
func compareMetadata(before *jsondoc.Object, after *jsondoc.Node) error {
	if after.Kind() != jsondoc.Map && after.Kind() != jsondoc.Invalid && after.Kind() != jsondoc.Null {
		return &GuardError{[]string{".metadata"}}
	}
	var changed []string
	report := func(name string) { changed = append(changed, jsondoc.FormatPath("metadata", name)) }
	err := before.Each(func(name string, was *jsondoc.Node) bool {
		if name != "labels" && name != "annotations" {
			is, err := after.Member(name)
			if err != nil || !is.Untouched() && !same(was, is) {
				report(name)
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	err = after.Each(func(name string, is *jsondoc.Node) bool {
		was, err := before.Member(name)
		if name != "labels" && name != "annotations" && was == nil && (err != nil || is.Kind() != jsondoc.Null) {
			report(name)
		}
		return true
	})
	if err == nil && len(changed) > 0 {
		err = &GuardError{changed}
	}
	return err
}

// same compares texts first, then what they mean; an absent value is as good as null.
func same(a, b *jsondoc.Node) bool {
	if string(a.Text()) == string(b.Text()) {
		return true
	}
	if a.Kind() == jsondoc.Invalid || b.Kind() == jsondoc.Invalid {
		return a.Kind() == jsondoc.Null || b.Kind() == jsondoc.Null
	}
	var x, y any
	return decodeExact(a.Text(), &x) == nil && decodeExact(b.Text(), &y) == nil && reflect.DeepEqual(x, y)
}

// restoreMetadata puts the source's metadata into obj, with the labels and annotations of the result.
func restoreMetadata(obj *jsondoc.Object, before *jsondoc.Object, after *jsondoc.Node) error {
	var problems []error
	for _, name := range []string{"labels", "annotations"} {
		was, err := before.Member(name)
		if err != nil {
			return err
		}
		is, err := after.Member(name)
		if err != nil {
			return err
		}
		if is.Untouched() || string(was.Text()) == string(is.Text()) {
			continue
		}
		if is == nil {
			err = before.RemoveMember(name)
		} else if err = validateStrings(name, is); err == nil {
			var v jsondoc.Value
			if v, err = jsondoc.RawValue(is.Text()); err == nil {
				err = before.SetMember(name, v)
			}
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	v, err := jsondoc.RawValue(before.Text())
	if err != nil {
		return err
	}
	return obj.Set(v, "metadata")
}

// validateStrings checks labels or annotations that the converter changed as the API server will (restoreObjectMeta in
// webhook_converter.go), so that the user reads which key is wrong.
func validateStrings(name string, n *jsondoc.Node) error {
	var values map[string]string
	if err := decodeExact(n.Text(), &values); err != nil {
		return &jsondoc.PathError{
			Problem: "converter set something else than strings, mend the converter",
			Path:    jsondoc.FormatPath("metadata", name),
		}
	}
	path := field.NewPath("metadata", name)
	found := metav1validation.ValidateLabels(values, path)
	if name == "annotations" {
		found = apivalidation.ValidateAnnotations(values, path)
	}
	var problems []error
	for _, e := range found { // e.Detail, not e.Error(), which quotes the value
		problems = append(problems, fmt.Errorf("converter set invalid %s, mend the converter: %s: %s", name, e.Detail, e.Field))
	}
	return errors.Join(problems...)
}

// decodeExact decodes without rounding numbers.
func decodeExact(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}
