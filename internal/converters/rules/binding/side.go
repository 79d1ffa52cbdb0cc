package binding

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// stashPrefix is how the names of annotations start in which webhookd keeps what a version cannot say.
const stashPrefix = "conversion.webhookd.io/"

// A Side is one side of a rule, where it is applied.
type Side struct {
	What    string          // "field" or "hub", for messages
	Version string          // the version's name
	Base    *crdschema.Node // what the rule's paths start at; nil: a place that admits anything
	Root    bool            // Base is the root of an object
	Prefix  string          // the path of Base, for messages about rule sets; empty at the root
}

// Place returns, for each path of a rule's place, the places behind each of its segments (see Resolve). A place that is nil,
// one that the rule does not have, gives nil.
func (s Side) Place(rule *syntax.Rule, place *syntax.Place) ([][]*crdschema.Node, []finding.Finding) {
	if place == nil {
		return nil, nil
	}
	var findings []finding.Finding
	resolved := make([][]*crdschema.Node, 0, len(place.Paths))
	for _, named := range place.Paths {
		nodes, found := s.path(rule, named)
		resolved = append(resolved, nodes)
		findings = append(findings, found...)
	}
	return resolved, findings
}

// Lacks reports whether the side has none of a place's paths because a field of that name is missing where they start: the
// end of a recursive type, where a rule of a rule set has nothing to do.
func (s Side) Lacks(place *syntax.Place) bool {
	if place == nil {
		return true
	}
	for _, named := range place.Paths {
		if _, problem := Resolve(s.Base, s.Version, named.Path); problem == nil || !problem.Missing || problem.Segment != 0 {
			return false
		}
	}
	return true
}

func (s Side) path(rule *syntax.Rule, named syntax.NamedPath) ([]*crdschema.Node, []finding.Finding) {
	if s.Root {
		if problem := reserved(named.Path); problem != nil {
			return nil, []finding.Finding{s.finding(rule, named, problem)}
		}
	}
	nodes, problem := Resolve(s.Base, s.Version, named.Path)
	if problem != nil {
		return nil, []finding.Finding{s.finding(rule, named, problem)}
	}
	return nodes, nil
}

func (s Side) finding(rule *syntax.Rule, named syntax.NamedPath, problem *Problem) finding.Finding {
	at, end := named.Span(named.Path.Segments[problem.Segment])
	message := fmt.Sprintf("%s path %s: %s", s.What, named.Path.Text, problem.Text)
	if rule.Set != "" {
		message = fmt.Sprintf("%s, applied below %s: %s", rule, s.Version+" "+orRoot(s.Prefix), message)
	}
	return finding.Finding{Pos: at, EndColumn: end, Code: problem.Code, Message: message, Hint: problem.Hint}
}

func orRoot(prefix string) string {
	if prefix == "" {
		return "the root"
	}
	return prefix
}

// reserved judges paths into what every object has. Of these, a webhook's answer may only change labels and annotations
// (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, restoreObjectMeta).
func reserved(path syntax.Path) *Problem {
	first := path.Segments[0]
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
	if len(path.Segments) == 1 {
		return &Problem{Code: "metadata", Text: "of metadata, rules may only name labels and annotations", Hint: entries}
	}
	second := path.Segments[1]
	if second.Kind != syntax.Field || second.Name != "labels" && second.Name != "annotations" {
		hint := "the API server refuses every other change; metadata can be read in expressions"
		return &Problem{Segment: 1, Code: "metadata", Text: "of metadata, rules may only name labels and annotations", Hint: hint}
	}
	if len(path.Segments) == 2 || path.Segments[2].Kind != syntax.Field {
		return &Problem{
			Segment: len(path.Segments[:min(len(path.Segments), 3)]) - 1, Code: "metadata",
			Text: "all " + second.Name + " cannot be named", Hint: entries,
		}
	}
	if strings.HasPrefix(path.Segments[2].Name, stashPrefix) {
		return &Problem{
			Segment: 2, Code: "own-annotation", Text: "annotations " + stashPrefix + "... belong to webhookd",
			Hint: "choose another name",
		}
	}
	return badKey(second.Name, path.Segments[2].Name)
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
