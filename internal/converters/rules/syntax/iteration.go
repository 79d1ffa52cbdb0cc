package syntax

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// Iteration returns the part of the place's paths that all of them share: up to the last segment that stands for any number
// of places. It is empty if there is none.
func (p *Place) Iteration() []Segment {
	if p == nil || len(p.Paths) == 0 {
		return nil
	}
	return p.Paths[0].Path.iteration()
}

func (p Path) iteration() []Segment {
	for i, s := range slices.Backward(p.Segments) {
		if s.Iterates() {
			return p.Segments[:i+1]
		}
	}
	return nil
}

// iterations judges segments such as [] and {name}: they say which places belong together.
func (c combination) iterations() {
	field, hub := c.rule.Field, c.rule.Hub
	if !c.samePrefix(field) || !c.samePrefix(hub) || field == nil || hub == nil {
		return
	}
	fieldSegments, hubSegments := iterating(field), iterating(hub)
	for i := range max(len(fieldSegments), len(hubSegments)) {
		switch {
		case i >= len(fieldSegments):
			c.sayUnpaired(hub, hubSegments[i], "field")
			return
		case i >= len(hubSegments):
			c.sayUnpaired(field, fieldSegments[i], "hub")
			return
		}
		if !c.pairs(fieldSegments[i], hubSegments[i]) {
			return
		}
	}
}

func iterating(p *Place) []Segment {
	var found []Segment
	for _, s := range p.Iteration() {
		if s.Iterates() {
			found = append(found, s)
		}
	}
	return found
}

// samePrefix says which named paths do not go through the same elements as the first one.
func (c combination) samePrefix(p *Place) bool {
	if p == nil {
		return true
	}
	prefix := p.Iteration()
	for _, n := range p.Paths[1:] {
		own := n.Path.iteration()
		if slices.EqualFunc(prefix, own, Segment.Equal) {
			continue
		}
		c.parser.findings = append(c.parser.findings, finding.Finding{
			Pos: n.Pos, Code: "paths-of-other-elements",
			Message: fmt.Sprintf("%s: the paths %s and %s do not go through the same elements", c.rule, p.Paths[0].Path, n.Path),
			Hint:    "named paths share everything up to the last of [], {}, [name] and {name}",
		})
		return false
	}
	return true
}

// sayUnpaired reports a segment that has none on the other side.
func (c combination) sayUnpaired(p *Place, s Segment, other string) {
	at, end := p.Paths[0].Span(s)
	hint := "go through elements on both sides; one element is [name=x] or [0]"
	c.parser.findings = append(c.parser.findings, finding.Finding{
		Pos: at, EndColumn: end, Code: "unpaired-elements",
		Message: fmt.Sprintf("%s: %s stands for any number of places, and %s has no such segment to pair it with", c.rule, s, other),
		Hint:    hint,
	})
}

// pairs judges two segments that go through elements side by side.
func (c combination) pairs(field, hub Segment) bool {
	keyed := func(s Segment) bool { return s.Kind == KeyedElements || s.Kind == KeyedValues }
	problem, hint := "", ""
	switch {
	case keyed(field) && keyed(hub):
		if field.Name == hub.Name {
			return true
		}
		problem = fmt.Sprintf("%s and %s do not go by the same key", field, hub)
		hint = fmt.Sprintf("write the same name in both; a key that is renamed is [] <-> [] and a rule for .%s", field.Name)
	case field.Kind == hub.Kind:
		return true
	default:
		problem = fmt.Sprintf("%s and %s cannot be paired", field, hub)
		hint = "by index: [] with []; by the same key of a map: {} with {}; by key: [name] or {name} with [name] or {name}"
	}
	at, end := c.rule.Hub.Paths[0].Span(hub)
	c.parser.findings = append(c.parser.findings, finding.Finding{
		Pos: at, EndColumn: end, Code: "elements-do-not-pair", Message: fmt.Sprintf("%s: %s", c.rule, problem), Hint: hint,
	})
	return false
}
