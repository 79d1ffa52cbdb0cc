package binding

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// The prefixes of the annotations and labels that belong to webhookd, where it keeps values that a
// version cannot say.
const ownPrefix, ownStatusPrefix = "conversion.webhookd.io/", "status.conversion.webhookd.io/"

// reserved judges paths into the fields that every object has. A webhook's answer may change only
// labels and annotations of them (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion,
// restoreObjectMeta).
func reserved(path []syntax.Segment) *Problem {
	if len(path) == 0 || path[0].Kind != syntax.Field {
		return nil
	}
	switch first := path[0]; first.Name {
	case "apiVersion", "kind":
		return &Problem{Code: "type-meta", Text: "no rule may name " + first.Name, Hint: "it is set for every object"}
	case "metadata":
	default:
		return nil
	}
	const (
		onlyTags = "of metadata, rules may only name labels and annotations"
		entries  = `name one entry: .metadata.labels["key"] or .metadata.annotations["key"]`
	)
	if len(path) == 1 {
		return &Problem{Code: "metadata", Text: onlyTags, Hint: entries}
	}
	second := path[1]
	if second.Kind != syntax.Field || second.Name != "labels" && second.Name != "annotations" {
		hint := "the API server refuses every other change; metadata can be read in expressions"
		return &Problem{Segment: 1, Code: "metadata", Text: onlyTags, Hint: hint}
	}
	if len(path) == 2 || path[2].Kind != syntax.Field {
		return &Problem{
			Segment: min(len(path), 3) - 1, Code: "metadata", Text: "all " + second.Name + " cannot be named", Hint: entries,
		}
	}
	for _, prefix := range []string{ownPrefix, ownStatusPrefix} {
		if strings.HasPrefix(path[2].Name, prefix) {
			return &Problem{
				Segment: 2, Code: "own-annotation", Text: second.Name + " " + prefix + "... belong to webhookd",
				Hint: "choose another name",
			}
		}
	}
	return badKey(second.Name, path[2].Name)
}

// badKey reports a key of a label or an annotation that the API server would refuse.
func badKey(where, key string) *Problem {
	if where == "annotations" {
		key = strings.ToLower(key)
	}
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		hint, _, _ := strings.Cut(problems[0], " (e.g.")
		return &Problem{Segment: 2, Code: "bad-metadata-key", Text: "not a key that " + where + " may have", Hint: hint}
	}
	return nil
}
