package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A GuardError says that a converter changed what it must leave alone.
type GuardError struct {
	// Paths are the places in the object, the first maxPaths of them.
	Paths []string
	more  int
}

// maxPaths bounds what a GuardError lists.
const maxPaths = 16

// Error implements error.
func (e *GuardError) Error() string {
	text := "converter changed what is not its own, let it edit no metadata but labels and annotations: " +
		strings.Join(e.Paths, ", ")
	if e.more > 0 {
		text += fmt.Sprintf(" and %d more", e.more)
	}
	return text
}

func (e *GuardError) add(path ...string) {
	if len(e.Paths) == maxPaths {
		e.more++
		return
	}
	e.Paths = append(e.Paths, jsondoc.FormatPath(path...))
}

// guard holds a converted object against its source: the kind and all metadata but labels and annotations must be the
// source's (invariant I4). It then gives the object the source's metadata, byte for byte, with the labels and annotations
// of the result, and {} where the source had none, which server-side apply needs (kubernetes#117356).
//
// Metadata that nobody touched costs nothing; after that the texts of its members are compared where they stand, and decoded
// values only where those differ. It takes time in proportion to their number, however many a hostile object has.
func (c *conversion) guard(src jsondoc.Outline, obj *jsondoc.Object) error {
	kind, err := obj.Get("kind")
	if err != nil {
		return err
	}
	if !kind.Untouched() {
		if was, _ := c.doc.Member(src, "kind"); !same(c.doc.Text(was), kind) {
			return &GuardError{Paths: []string{".kind"}}
		}
	}
	meta, err := obj.Get("metadata")
	if err != nil {
		return err
	}
	if meta.Untouched() && meta.Kind() == jsondoc.Map {
		return nil
	}
	at, found := c.doc.Member(src, "metadata")
	before, err := jsondoc.RawValue([]byte("{}"))
	if err != nil {
		return err
	}
	var was *jsondoc.Node
	if source := c.doc.Text(at); found && source[0] == '{' {
		before = c.doc.Value(at)
		was, err = obj.Original().Get("metadata")
	} else if found && string(source) != "null" {
		err = &jsondoc.PathError{Problem: "is not an object, fix the stored object", Path: ".metadata"}
	}
	if err != nil {
		return err
	}
	return restoreMetadata(obj, before, was, meta)
}

// restoreMetadata compares the metadata of the result with that of the source, and puts the latter back, with the labels
// and annotations of the result.
func restoreMetadata(obj *jsondoc.Object, before jsondoc.Value, was, is *jsondoc.Node) error {
	if !mayBeObject(is) {
		return &GuardError{Paths: []string{is.Path()}}
	}
	edits := make([]func() error, 0, 2)
	var changed GuardError
	var problems problems
	err := jsondoc.Pairs(was, is, false, func(name string, was, is *jsondoc.Node) bool {
		switch {
		case name != "labels" && name != "annotations":
			if !same(was.Text(), is) {
				changed.add("metadata", clip(name, maxName))
			}
		case sameStrings(was, is):
		case is == nil:
			edits = append(edits, func() error { return obj.Remove("metadata", name) })
		default:
			problems.add(validateStrings(name, is))
			value := is.Value()
			edits = append(edits, func() error { return obj.Set(value, "metadata", name) })
		}
		return true
	})
	if err != nil {
		return err
	}
	if len(changed.Paths) > 0 {
		return &changed
	}
	if err := problems.join(); err != nil {
		return err
	}
	if err := obj.Set(before, "metadata"); err != nil {
		return err
	}
	for _, edit := range edits {
		if err := edit(); err != nil {
			return err
		}
	}
	return nil
}

// mayBeObject reports whether a value is an object, or stands for an empty one.
func mayBeObject(n *jsondoc.Node) bool {
	kind := n.Kind()
	return kind == jsondoc.Map || kind == jsondoc.Invalid || kind == jsondoc.Null
}

// sameStrings compares labels or annotations key by key, for a converter may have written them anew.
func sameStrings(was, is *jsondoc.Node) bool {
	if was.Kind() != jsondoc.Map || is.Kind() != jsondoc.Map || was.Len() == 0 {
		return same(was.Text(), is)
	}
	equal := true
	err := jsondoc.Pairs(was, is, false, func(_ string, was, is *jsondoc.Node) bool {
		equal = was != nil && is != nil && same(was.Text(), is)
		return equal
	})
	return equal && err == nil
}

// same compares texts first, then what they mean. Typed structs drop what is empty and write null for what is absent, so
// all of these are the same.
func same(was []byte, is *jsondoc.Node) bool {
	text := is.Text()
	if bytes.Equal(was, text) || isEmpty(was) && isEmpty(text) {
		return true
	}
	var x, y any
	return decodeExact(was, &x) == nil && decodeExact(text, &y) == nil && reflect.DeepEqual(x, y)
}

func isEmpty(text []byte) bool {
	switch string(text) {
	case "", "null", "{}", "[]", `""`, "0", "false":
		return true
	}
	return false
}

// decodeExact decodes without rounding numbers.
func decodeExact(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}
