package playground

import (
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
)

// A step is the name of a member, or the index of an element if name is empty and index is not -1.
type step struct {
	name  string
	index int // -1: a member
}

func member(name string) step { return step{name, -1} }

// A place is a value of an object without values in it: a scalar, or an empty mapping or list.
type place struct {
	steps     []step
	path      string // as messages have it: .spec.a[0]
	schema    string // as rules have it: .spec.a[]
	line, end int    // from 1
	value     string // JSON text
	above     []*yaml.Node
	lines     []int // of each step
}

// places are those of a YAML text in their order.
type places struct {
	all    []*place
	byPath map[string]*place
}

const maxDepth = 200

// readPlaces reads the first document of a text.
func readPlaces(text []byte) (*places, error) {
	p := &places{byPath: map[string]*place{}}
	for document, err := range yamljson.Documents(text) {
		if err != nil {
			return nil, err
		}
		err = p.read(document, document.Root, nil, nil, []int{document.Root.Line})
		return p, err
	}
	return p, nil
}

func (p *places) read(document yamljson.Document, n *yaml.Node, steps []step, above []*yaml.Node, lines []int) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	above = append(slices.Clip(above), n)
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		members, err := yamljson.Members(n)
		if err != nil {
			return err
		}
		for _, m := range members {
			if err := p.read(document, m.Value, append(slices.Clip(steps), member(m.Name)), above, append(slices.Clip(lines), m.Key.Line)); err != nil {
				return err
			}
		}
		return nil
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		for i, element := range n.Content {
			if err := p.read(document, element, append(slices.Clip(steps), step{index: i}), above, append(slices.Clip(lines), element.Line)); err != nil {
				return err
			}
		}
		return nil
	}
	value, err := document.JSON(n, maxDepth)
	if err != nil {
		return err
	}
	line := lines[len(lines)-1]
	at := &place{steps: steps, lines: lines[1:], line: line, end: max(line, n.Line), value: string(value), above: above}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		at.end = n.Line + strings.Count(strings.TrimRight(n.Value, "\n"), "\n") + 1
	}
	at.path, at.schema = pathOf(steps)
	p.all = append(p.all, at)
	p.byPath[at.path] = at
	return nil
}

// pathOf writes a path as messages and as rules have it.
func pathOf(steps []step) (path, inSchema string) {
	var a, b strings.Builder
	for _, s := range steps {
		if s.index >= 0 {
			a.WriteString("[" + strconv.Itoa(s.index) + "]")
			b.WriteString("[]")
			continue
		}
		name := jsondoc.FormatPath(s.name)
		a.WriteString(name)
		b.WriteString(name)
	}
	return a.String(), b.String()
}

// annotation returns the name of the annotation that the place is.
func (p *place) annotation() string {
	if len(p.steps) == 3 && p.steps[0].name == "metadata" && p.steps[1].name == "annotations" {
		return p.steps[2].name
	}
	return ""
}

// key returns the key of a member of the place's n-th mapping, or of the object itself, as a place.
func (p *place) key(n int) *place {
	at := &place{steps: p.steps[:n], lines: p.lines[:n], line: p.lines[n-1], end: p.lines[n-1], above: p.above[:n+1]}
	at.path, at.schema = pathOf(at.steps)
	at.value = string(jsondoc.StringValue(p.steps[n-1].name).Text())
	at.path += " (key)"
	return at
}

// isEmpty reports whether the place is an empty mapping or list.
func (p *place) isEmpty() bool { return p.value == "{}" || p.value == "[]" }

// filled returns the mapping or list at the path of an empty one, with the same value: that it is
// there is the same.
func (p *places) filled(empty *place) *place {
	n := len(empty.steps)
	for _, in := range p.all {
		if n > 0 && len(in.steps) > n && slices.Equal(in.steps[:n], empty.steps) {
			at := in.key(n)
			at.path, at.value = empty.path, empty.value
			return at
		}
	}
	return nil
}

// isType reports whether the place is the apiVersion or the kind.
func (p *place) isType() bool {
	return len(p.steps) == 1 && (p.steps[0].name == "apiVersion" || p.steps[0].name == "kind")
}

func isKept(name string) bool { return annotation.IsOwn(name) }

// A bound is what an iterating segment of a rule's path is at a place: a key, or an element.
type bound struct {
	step step
	node *yaml.Node // the member's value or the element
}

// match reports whether a path of rules is that of the place, or above it, and returns what its
// iterating segments are.
func (p *place) match(path []syntax.Segment) (all []bound, ok bool) {
	if len(path) > len(p.steps) {
		return nil, false
	}
	for i, s := range path {
		at, node := p.steps[i], p.above[i+1]
		switch s.Kind {
		case syntax.Field:
			ok = at.index < 0 && at.name == s.Name
		case syntax.Values, syntax.KeyedValues:
			ok = at.index < 0
			all = append(all, bound{at, node})
		case syntax.Elements, syntax.KeyedElements:
			ok = at.index >= 0
			all = append(all, bound{at, node})
		case syntax.Pick:
			ok = at.index >= 0 && memberText(node, s.Name) == s.Value
		case syntax.First:
			ok = at.index == 0
		}
		if !ok {
			return nil, false
		}
	}
	return all, true
}

// memberText returns the text of a scalar member.
func memberText(n *yaml.Node, name string) string {
	members, err := yamljson.Members(n)
	if err != nil {
		return ""
	}
	for _, m := range members {
		if m.Name == name {
			return m.Value.Value
		}
	}
	return ""
}

// corresponds reports whether two places are in the same elements and members.
func corresponds(from, to []bound, fromPath, toPath []syntax.Segment) bool {
	for i := range min(len(from), len(to)) {
		if textOf(from[i], iteration(fromPath, i)) != textOf(to[i], iteration(toPath, i)) {
			return false
		}
	}
	return true
}

// textOf returns what identifies an element or a member.
func textOf(b bound, s syntax.Segment) string {
	switch {
	case b.step.index < 0:
		return b.step.name
	case s.Kind == syntax.KeyedElements:
		return memberText(b.node, s.Name)
	}
	return strconv.Itoa(b.step.index)
}

// iteration returns an iterating segment of a path.
func iteration(path []syntax.Segment, index int) syntax.Segment {
	for _, s := range path {
		switch s.Kind {
		case syntax.Values, syntax.KeyedValues, syntax.Elements, syntax.KeyedElements:
			if index == 0 {
				return s
			}
			index--
		case syntax.Field, syntax.Pick, syntax.First:
		}
	}
	return syntax.Segment{}
}

// differences compares two objects of one version, without kept values.
func differences(was, is *places) []Difference {
	var all []Difference
	for _, p := range was.all {
		now := is.byPath[p.path]
		switch {
		case isKept(p.annotation()):
		case now == nil:
			all = append(all, Difference{Path: p.path, Was: p.value})
		case now.value != p.value:
			all = append(all, Difference{Path: p.path, Was: p.value, Is: now.value})
		}
	}
	for _, p := range is.all {
		if was.byPath[p.path] == nil && !isKept(p.annotation()) {
			all = append(all, Difference{Path: p.path, Is: p.value})
		}
	}
	return all
}
