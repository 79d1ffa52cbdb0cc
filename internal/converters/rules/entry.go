package rules

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A section is where a path from the root of an object leads to: to an entry of its own labels or annotations, or not. There the
// API server refuses a whole answer for one value: a label that is not valid, and what is no string
// (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, restoreObjectMeta). So such a value does not fit.
type section int

const (
	elsewhere section = iota
	inLabels
	inAnnotations
)

func sectionOf(path []step) section {
	if len(path) != 3 || path[0].name != "metadata" {
		return elsewhere
	}
	switch path[1].name {
	case "labels":
		return inLabels
	case "annotations":
		return inAnnotations
	}
	return elsewhere
}

// takes reports whether the API server takes a value there.
func (s section) takes(text []byte) bool {
	if s == elsewhere {
		return true
	}
	if len(text) == 0 || text[0] != '"' {
		return false
	}
	return s == inAnnotations || len(validation.IsValidLabelValue(jsondoc.Unquote(text))) == 0
}

// accepted returns a stash without the labels and annotations that the API server would not take, for anybody can write a stash;
// nil for one with a repeated name there, which is none of ours.
func (r *run) accepted(stash *jsondoc.Object) *jsondoc.Object {
	if stash == nil {
		return nil
	}
	for _, path := range [][]step{names("metadata", "labels"), names("metadata", "annotations")} {
		of := sectionOf(join(path, step{}))
		r.keepOnly(r.find(stash.Node, path), func(v *jsondoc.Node) bool {
			if exact := r.member(v, exactly); exact != nil {
				v = exact
			} else if v.Kind() == jsondoc.Null {
				return true // there was none
			}
			return of.takes(v.Text())
		})
		whole := r.find(r.member(stash.Node, exactly), path)
		r.keepOnly(whole, func(v *jsondoc.Node) bool { return of.takes(v.Text()) })
	}
	if r.err != nil {
		r.err = nil
		return nil
	}
	return stash
}

// keepOnly removes the members of an object that are not good.
func (r *run) keepOnly(n *jsondoc.Node, good func(v *jsondoc.Node) bool) {
	for _, e := range r.entries(n) {
		if !good(e.value) {
			r.note(n.RemoveMember(e.name))
		}
	}
}
