package offline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// Strip removes the annotations and labels in which webhookd keeps values from an object, or from
// each item of a List or of the list of any kind. It also returns what it has removed, in words.
func Strip(text []byte) (stripped []byte, removed []string, err error) {
	object, gvk, err := manifest.ParseObject(text)
	if err != nil {
		return nil, nil, err
	}
	strip := func(at string, node *jsondoc.Node) error {
		return stripObject(node, func(key string) { removed = append(removed, at+"removed "+key) })
	}
	if err := strip("", object.Node); err != nil || !strings.HasSuffix(gvk.Kind, "List") {
		return object.Text(), removed, err
	}
	items, err := object.Get("items")
	if err != nil || items.Kind() != jsondoc.Array {
		return object.Text(), removed, err
	}
	var problems []error
	err = items.Each(func(_ string, item *jsondoc.Node) bool {
		problems = append(problems, strip(fmt.Sprintf("items[%d]: ", len(problems)), item))
		return true
	})
	return object.Text(), removed, errors.Join(append(problems, err)...)
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
