package plan

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Section is the part of an object that a path from its root leads to. For one invalid label, or
// one label or annotation that is not a string, the API server refuses the whole answer
// (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, restoreObjectMeta).
type Section int

// The sections.
const (
	Elsewhere Section = iota
	inLabels
	inAnnotations
)

func sectionOf(path []Step) Section {
	if len(path) == 3 && path[0].Name == "metadata" {
		switch path[1].Name {
		case "labels":
			return inLabels
		case "annotations":
			return inAnnotations
		}
	}
	return Elsewhere
}

// Takes reports whether the API server accepts a value in the section.
func (s Section) Takes(text []byte) bool {
	switch {
	case s == Elsewhere:
		return true
	case len(text) == 0 || text[0] != '"':
		return false
	}
	return s == inAnnotations || len(validation.IsValidLabelValue(jsondoc.Unquote(text))) == 0
}
