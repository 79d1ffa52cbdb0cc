package exec

import (
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// isOwn is true of the names of annotations in which webhookd keeps stashes.
func isOwn(name string) bool { return strings.HasPrefix(name, converters.StashAnnotation("")) }

// equal compares two values, or their absence, as JSON: the order of names and the spelling of strings do not count, that of
// numbers does.
func (r *run) equal(a, b *jsondoc.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind() != b.Kind() {
		return false
	}
	if a.SameText(b) {
		return true
	}
	switch a.Kind() {
	case jsondoc.String:
		s, _ := a.Str()
		t, _ := b.Str()
		return s == t
	case jsondoc.Map:
		return r.equalMembers(a, b)
	case jsondoc.Array:
		x, y := r.entries(a), r.entries(b)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !r.equal(x[i].value, y[i].value) {
				return false
			}
		}
		return true
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number:
	}
	return false
}

func (r *run) equalMembers(a, b *jsondoc.Node) bool {
	x, y := r.entries(a), r.entries(b)
	if len(x) != len(y) {
		return false
	}
	for _, e := range x {
		other := r.member(b, e.name)
		if other == nil || !r.equal(e.value, other) {
			return false
		}
	}
	return true
}
