package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Seal notes in the first of the entries what the whole object is that they are put in: obj as
// converted, and stored as the API server stores it, with defaults. It fails for an object with too
// many members.
func Seal(entries []*Entry, obj, stored *jsondoc.Object) error {
	if len(entries) == 0 {
		return nil
	}
	now, err := wholeOf(obj)
	if err != nil {
		return err
	}
	then := now
	if stored != obj {
		then, err = wholeOf(stored)
	}
	entries[0].whole = one(now)
	entries[0].whole.orElse(then)
	return err
}

// Unedited reports whether obj is as it was when Seal noted it in one of its entries.
func Unedited(kept []*Entry, obj *jsondoc.Object) bool {
	return slices.ContainsFunc(kept, func(e *Entry) bool {
		if e.whole == (stamps{}) {
			return false
		}
		now, err := wholeOf(obj)
		return err == nil && e.whole.has(now)
	})
}

// wholeOf returns the digest of all that a conversion may change, without webhookd's own
// annotations.
func wholeOf(obj *jsondoc.Object) (stamp, error) {
	sum, err := digestMembers(obj.Node, isHead[string])
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
		sum = mixed(sum ^ tags)
	}
	return stampOf(sum), nil
}
