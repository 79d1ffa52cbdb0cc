package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Seal notes in the first of the entries what the object shows that they are put in, with the
// schema of its version. Values that were kept of both versions may contradict each other, which is
// no edit unless the object changes.
func Seal(entries []*Entry, obj *jsondoc.Object, schema *crdschema.Node) error {
	if len(entries) == 0 {
		return nil
	}
	var err error
	entries[0].object, err = visibleOf(obj, schema)
	return err
}

// Unedited reports whether obj still shows what it did when Seal noted it in one of its entries.
func Unedited(kept []*Entry, obj *jsondoc.Object, schema *crdschema.Node) bool {
	return slices.ContainsFunc(kept, func(e *Entry) bool {
		if !e.object.any {
			return false
		}
		now, err := visibleOf(obj, schema)
		return err == nil && e.object == now
	})
}

// visibleOf returns the digest of all that a conversion may change, without webhookd's own
// annotations.
func visibleOf(obj *jsondoc.Object, schema *crdschema.Node) (stamp, error) {
	var all stamp
	err := obj.Filter(func(name []byte, m jsondoc.Member) bool {
		if !isHead(name) && !fills(schema.PropertyNamed(name), m.Node()) {
			all.add(mixed(hashed(offset64, name) ^ mixed(effective(m.Node(), memberNamed(schema, name)))))
		}
		return true
	})
	if err != nil {
		return stamp{}, err
	}
	for _, field := range []string{"labels", "annotations"} {
		n, err := obj.Get("metadata", field)
		if err != nil {
			return stamp{}, err
		}
		tags, err := digestMembers(n, IsOwn[string])
		if err != nil {
			return stamp{}, err
		}
		all.add(mixed(hash(field) ^ tags))
	}
	return all, nil
}
