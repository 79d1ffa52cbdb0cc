package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// strip removes the annotations and labels of webhookd from all documents, and reports each
// document that is not an object. With verbose it prints what it removes.
func (p *program) strip(inputs []manifest.File, verbose bool) ([]manifest.File, error) {
	results := make([]manifest.File, len(inputs))
	var problems []error
	for i, in := range inputs {
		results[i] = manifest.File{Name: in.Name, Format: in.Format}
		for j, document := range in.Documents {
			removed := func(at, key string) {
				if verbose {
					p.note("%s: %sremoved %s", in.Describe(j), at, key)
				}
			}
			text, err := stripDocument(document, removed)
			for _, problem := range split(err) {
				problems = append(problems, fmt.Errorf("%s: %w", in.Describe(j), problem))
			}
			results[i].Documents = append(results[i].Documents, text)
		}
	}
	return results, errors.Join(problems...)
}

// withoutKept strips an object and says nothing.
func withoutKept(document []byte) ([]byte, error) {
	return stripDocument(document, func(string, string) {})
}

// stripDocument strips an object, or each item of a List or of the list of any kind.
func stripDocument(text []byte, removed func(at, key string)) ([]byte, error) {
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
