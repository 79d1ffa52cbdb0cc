package review

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A GuardError says that a converter changed fields that it must not change.
type GuardError struct {
	// Paths are the changed fields, the first maxPaths of them.
	Paths []string
	more  int
}

// maxPaths bounds the paths in a GuardError.
const maxPaths = 16

// Error implements error.
func (e *GuardError) Error() string {
	text := "converter changed fields it must not change, let it edit only labels and annotations in metadata: " +
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

// guard checks that a converter left the kind and the metadata alone, except for labels and
// annotations (invariant I4). It then restores the source's metadata byte for byte, with the labels
// and annotations of the result. Where the source has no metadata it sets {}, which server-side
// apply needs (kubernetes#117356).
//
// Untouched metadata costs nothing. Otherwise the texts of its members are compared, and decoded
// values only where the texts differ. The time is linear in the number of members, even for a
// hostile object.
func (c *conversion) guard(src jsondoc.Outline, obj *jsondoc.Object) error {
	kind, err := obj.Get("kind")
	if err != nil {
		return err
	}
	if was, _ := c.doc.Member(src, "kind"); !same(c.doc.Text(was), kind) {
		return &GuardError{Paths: []string{".kind"}}
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

// restoreMetadata compares the metadata of the result with the source's, and restores the latter
// with the labels and annotations of the result.
func restoreMetadata(obj *jsondoc.Object, before jsondoc.Value, was, is *jsondoc.Node) error {
	if !mayBeObject(is) {
		return &GuardError{Paths: []string{is.Path()}}
	}
	edits := make([]func() error, 0, 2)
	var changed GuardError
	var problems problems
	err := jsondoc.Pairs(was, is, false, func(field []byte, was, is *jsondoc.Node) bool {
		switch name := string(field); {
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

// mayBeObject reports whether a value is an object, null or absent.
func mayBeObject(n *jsondoc.Node) bool {
	kind := n.Kind()
	return kind == jsondoc.Map || kind == jsondoc.Invalid || kind == jsondoc.Null
}

// sameStrings compares labels or annotations key by key, because a converter may have rewritten the
// whole map.
func sameStrings(was, is *jsondoc.Node) bool {
	if was.Kind() != jsondoc.Map || is.Kind() != jsondoc.Map || was.Len() == 0 {
		return same(was.Text(), is)
	}
	equal := true
	err := jsondoc.Pairs(was, is, false, func(_ []byte, was, is *jsondoc.Node) bool {
		equal = was != nil && is != nil && same(was.Text(), is)
		return equal
	})
	return equal && err == nil
}

// same compares the texts first, then the decoded values. All empty values are equal: typed structs
// drop empty fields and write null for absent ones.
func same(was []byte, is *jsondoc.Node) bool {
	text := is.Text()
	if bytes.Equal(was, text) || isEmpty(was) && isEmpty(text) {
		return true
	}
	x, errX := jsondoc.Decode(was, true)
	y, errY := jsondoc.Decode(text, true)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func isEmpty(text []byte) bool {
	switch string(text) {
	case "", "null", "{}", "[]", `""`, "0", "false":
		return true
	}
	return false
}
