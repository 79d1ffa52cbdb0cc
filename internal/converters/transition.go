package converters

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Transition says that some replicas may have other rules for a kind. What those of the kind give
// has a mark (annotation.Mark). When a client writes such an object, it is converted by the same
// rules as when it was read, and so is stored as it was. An object without a mark was read through
// a replica that knows only earlier rules.
type Transition struct {
	// Before are the kind with the rules that are all that some replicas know, the oldest first.
	Before []*Kind
	// Stored is the version that the API server stores.
	Stored string
}

// by returns the kind with the rules that convert an object. T may be nil.
func (t *Transition) by(k *Kind, obj *jsondoc.Object, from, to string) *Kind {
	if t == nil || len(t.Before) == 0 || from == t.Stored || !keep.IsStored(obj) {
		return k
	}
	mark := annotation.MarkOf(obj, to)
	for _, rules := range []string{mark.Rules, mark.For} {
		for _, known := range append(slices.Clip(t.Before), k) {
			if known.Rules == rules {
				return known
			}
		}
	}
	if mark.Rules == "" && !isCreated(obj) {
		return t.Before[0]
	}
	return k
}

// isCreated reports whether a client is creating the object, so that nothing read it before: no
// manager has written it after its creation (ManagedFieldsEntry of apimachinery).
func isCreated(obj *jsondoc.Object) bool {
	created, err := obj.Get("metadata", "creationTimestamp")
	managers, errManagers := obj.Get("metadata", "managedFields")
	if err != nil || errManagers != nil || created.Kind() != jsondoc.String {
		return false
	}
	at, _ := created.Str()
	all := false
	err = managers.Each(func(_ string, m *jsondoc.Node) bool {
		written, err := m.Member("time")
		by, is := written.Str()
		all = err == nil && is && by <= at // both are in UTC
		return all
	})
	return err == nil && all
}
