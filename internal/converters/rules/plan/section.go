package plan

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Section is where a path from the root of an object leads to: to an entry of its own labels or annotations, or not. There the
// API server refuses a whole answer for one value: a label that is not valid, and what is no string
// (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, restoreObjectMeta). So such a value does not fit.
type Section int

// The sections.
const (
	Elsewhere Section = iota
	inLabels
	inAnnotations
)

// SectionOf returns where a path leads to.
func SectionOf(path []Step) Section {
	if len(path) != 3 || path[0].Name != "metadata" {
		return Elsewhere
	}
	switch path[1].Name {
	case "labels":
		return inLabels
	case "annotations":
		return inAnnotations
	}
	return Elsewhere
}

// Takes reports whether the API server takes a value there.
func (s Section) Takes(text []byte) bool {
	if s == Elsewhere {
		return true
	}
	if len(text) == 0 || text[0] != '"' {
		return false
	}
	return s == inAnnotations || len(validation.IsValidLabelValue(jsondoc.Unquote(text))) == 0
}
