package offline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// WithoutKept strips an object and says nothing.
func WithoutKept(document []byte) ([]byte, error) {
	return StripDocument(document, func(string, string) {})
}

// StripDocument strips an object, or each item of a List or of the list of any kind.
func StripDocument(text []byte, removed func(at, key string)) ([]byte, error) {
	object, gvk, err := manifest.ParseObject(text)
	if err != nil {
		return nil, err
	}
	if err := stripObject(object.Node, func(key string) { removed("", key) }); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(gvk.Kind, "List") {
		return object.Text(), nil
	}
	items, err := object.Get("items")
	if err != nil || items.Kind() != jsondoc.Array {
		return object.Text(), err
	}
	var problems []error
	index := 0
	err = items.Each(func(_ string, item *jsondoc.Node) bool {
		at := fmt.Sprintf("items[%d]: ", index)
		problems = append(problems, stripObject(item, func(key string) { removed(at, key) }))
		index++
		return true
	})
	return object.Text(), errors.Join(append(problems, err)...)
}

// stripObject strips the metadata of an object, and removes annotations and labels that become
// empty.
func stripObject(object *jsondoc.Node, removed func(key string)) error {
	metadata, err := object.Member("metadata")
	if err != nil {
		return err
	}
	for _, name := range []string{"annotations", "labels"} {
		if err := stripMap(metadata, name, removed); err != nil {
			return err
		}
	}
	return nil
}

func stripMap(metadata *jsondoc.Node, name string, removed func(key string)) error {
	keys, err := metadata.Member(name)
	if err != nil || keys.Kind() != jsondoc.Map {
		return err
	}
	left, found := 0, false
	err = keys.Filter(func(key []byte, _ jsondoc.Member) bool {
		if keep.IsOwn(key) {
			found = true
			removed(string(key))
			return false
		}
		left++
		return true
	})
	if err == nil && found && left == 0 {
		err = metadata.RemoveMember(name)
	}
	return err
}
