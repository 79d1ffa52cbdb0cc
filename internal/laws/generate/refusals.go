package generate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Refusal is one thing that a version's schema has against objects, and how many of them.
type Refusal struct {
	// Path is the place in the version, as conversion rules write paths. Reason is what the API
	// server says, in short and without the value.
	Path, Reason string
	Objects      uint64
}

// A Reason is what a schema has against one object.
type Reason struct{ Path, Text string }

// Refusals count objects by path and reason.
type Refusals map[Reason]uint64

// Add counts one object, which a version refuses for some reasons.
func (c Refusals) Add(reasons map[Reason]bool) {
	for r := range reasons {
		c[r]++
	}
}

// Sorted returns the refusals, the most frequent first.
func (c Refusals) Sorted() []Refusal {
	all := make([]Refusal, 0, len(c))
	for r := range maps.Keys(c) {
		all = append(all, Refusal{r.Path, r.Text, c[r]})
	}
	slices.SortFunc(all, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return all
}

// RefusalsOf returns what a schema has against an object, each once.
func RefusalsOf(v *crdschema.Version, object map[string]any) []Refusal {
	errs := v.Validate(object)
	if len(errs) == 0 {
		return nil
	}
	all := Refusals{}
	all.Add(ReasonsOf(v, errs))
	return all.Sorted()
}

// ReasonsOf returns the distinct places and reasons of the API server's errors about an object.
func ReasonsOf(v *crdschema.Version, errs field.ErrorList) map[Reason]bool {
	reasons := make(map[Reason]bool, len(errs))
	for _, err := range errs {
		reasons[reasonOf(v, err)] = true
	}
	return reasons
}

// maxReason bounds the text of a reason: patterns and enums may be long.
const maxReason = 120

func reasonOf(v *crdschema.Version, err *field.Error) Reason {
	refusal := apiserver.RefusalOf(err)
	path, n := SchemaPath(v.Root, refusal.Path)
	text := refusal.Reason
	if rule := brokenRule(n, err); rule != "" {
		text = "validation rule: " + rule
	}
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return Reason{path, strings.ReplaceAll(text, "\n", " ")}
}

// brokenRule returns the validation rule of a place (x-kubernetes-validations) that an error is
// about: its message, or the rule if that is computed. It returns "" for other errors.
func brokenRule(n *crdschema.Node, err *field.Error) string {
	if n == nil {
		return ""
	}
	computed := ""
	for _, rule := range n.Structural().XValidations {
		switch {
		case rule.Message != "" && rule.Message == err.Detail, strings.HasPrefix(err.Detail, "failed rule: "+rule.Rule):
			return strings.TrimPrefix(err.Detail, "failed rule: ")
		case rule.MessageExpression != "":
			computed = strings.TrimSpace(rule.Rule)
		}
	}
	if err.Type == field.ErrorTypeInvalid && apiserver.RefusalOf(err).Reason == err.Detail {
		return computed
	}
	return ""
}

// SchemaPath returns a path of the API server's messages (a.b[0].c[key]) as conversion rules write
// paths, and its place. What the schema does not know stays as it is.
func SchemaPath(n *crdschema.Node, path string) (string, *crdschema.Node) {
	var text strings.Builder
	path = "." + strings.TrimPrefix(strings.TrimSuffix(path, "<nil>"), ".")
	for path != "" && path != "." {
		step, next, rest := schemaStep(n, path)
		text.WriteString(step)
		if path = rest; next == nil {
			return text.String() + rest, nil
		}
		n = next
	}
	return cmp.Or(text.String(), "."), n
}

// schemaStep takes the first step of a path. Names with dots are not quoted there: the longest name
// that the schema has is the one, and a key of a map is the whole rest if its values have no parts.
func schemaStep(n *crdschema.Node, path string) (step string, next *crdschema.Node, rest string) {
	if n.Values().Scalar() {
		return "{}", n.Values(), ""
	}
	if path[0] == '[' {
		end := strings.IndexByte(path, ']') + 1
		if end == 0 {
			return path, nil, ""
		}
		name := path[1 : end-1]
		switch {
		case n.Items() != nil:
			return "[]", n.Items(), path[end:]
		case n.Values() != nil:
			return "{}", n.Values(), path[end:]
		}
		return jsondoc.FormatPath(name), n.Property(name), path[end:]
	}
	path = path[1:]
	found := ""
	for _, name := range n.Properties() {
		if after, is := strings.CutPrefix(path, name); is && (after == "" || after[0] == '.' || after[0] == '[') && len(name) > len(found) {
			found = name
		}
	}
	if found != "" {
		return jsondoc.FormatPath(found), n.Property(found), path[len(found):]
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	if n.Items() != nil && strings.Trim(path[:end], "0123456789") == "" {
		return "[]", n.Items(), path[end:]
	}
	if n.Values() != nil {
		return "{}", n.Values(), path[end:]
	}
	return jsondoc.FormatPath(path[:end]), nil, path[end:]
}
