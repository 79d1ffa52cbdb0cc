package binding

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// The names of annotations and labels that belong to webhookd start with these: in annotations it keeps what a version cannot say.
const ownPrefix, ownStatusPrefix = "conversion.webhookd.io/", "status.conversion.webhookd.io/"

// reserved judges paths into what every object has. Of these, a webhook's answer may only change labels and annotations
// (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, restoreObjectMeta).
func reserved(path []syntax.Segment) *Problem {
	if len(path) == 0 {
		return nil
	}
	first := path[0]
	if first.Kind != syntax.Field {
		return nil
	}
	switch first.Name {
	case "apiVersion", "kind":
		return &Problem{Code: "type-meta", Text: "no rule may name " + first.Name, Hint: "it is set for every object"}
	case "metadata":
	default:
		return nil
	}
	const entries = `name one entry: .metadata.labels["key"] or .metadata.annotations["key"]`
	if len(path) == 1 {
		return &Problem{Code: "metadata", Text: "of metadata, rules may only name labels and annotations", Hint: entries}
	}
	second := path[1]
	if second.Kind != syntax.Field || second.Name != "labels" && second.Name != "annotations" {
		hint := "the API server refuses every other change; metadata can be read in expressions"
		return &Problem{Segment: 1, Code: "metadata", Text: "of metadata, rules may only name labels and annotations", Hint: hint}
	}
	if len(path) == 2 || path[2].Kind != syntax.Field {
		return &Problem{
			Segment: len(path[:min(len(path), 3)]) - 1, Code: "metadata",
			Text: "all " + second.Name + " cannot be named", Hint: entries,
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

// badKey judges the key of a label or an annotation, which the API server would refuse.
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
