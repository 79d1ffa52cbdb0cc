package syntax

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// A key of a mapping: how its value is read into a T, and what the JSON Schema says about it.
type key[T any] struct {
	name     string
	was      string // its name in v1alpha1, if that was another
	doc      string
	required bool
	schema   schema
	read     func(p *parser, into *T, value *yaml.Node)
}

// mapping reads the keys of a mapping; messages call it what ("a rule"). It reports whether the
// node is a mapping without unknown keys.
func mapping[T any](p *parser, n *yaml.Node, what string, keys []key[T], into *T) bool {
	if !p.isMapping(n, what) {
		return false
	}
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.name)
	}
	given := map[string]bool{}
	known := true
	for name, value := range entries(n) {
		current := currentName(keys, name.Value)
		at := slices.Index(names, current)
		if current != name.Value {
			known = false
			p.sayAt(name, "renamed-key", fmt.Sprintf("%s has no key %q: it is %s now", what, name.Value, current), "write "+current)
		}
		if at < 0 {
			known = false
			hint := didyoumean.Hint(name.Value, names, "the keys are "+strings.Join(names, ", ")+"; a newer webhookd may have more")
			p.sayAt(name, "unknown-key", fmt.Sprintf("%s has no key %.64q", what, name.Value), hint)
			continue
		}
		given[name.Value] = true
		keys[at].read(p, into, value)
	}
	for _, k := range keys {
		if k.required && !given[k.name] {
			p.say(p.source.of(n), "missing-key", what+" needs the key "+k.name, "add it: "+k.doc)
		}
	}
	return known
}

// currentName returns the name of the key that once had that name, or else the name itself.
func currentName[T any](keys []key[T], name string) string {
	for _, k := range keys {
		if k.was != "" && k.was == name {
			return k.name
		}
	}
	return name
}

// entries yields the keys of a mapping with their values, but for keys that checkYAML reports.
func entries(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, value *yaml.Node) bool) {
		seen := map[[2]string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i]
			if name.Kind != yaml.ScalarNode || isMerge(name) || seen[keyOf(name)] {
				continue
			}
			seen[keyOf(name)] = true
			if !yield(name, n.Content[i+1]) {
				return
			}
		}
	}
}

// keyOf distinguishes 1 from "1".
func keyOf(name *yaml.Node) [2]string { return [2]string{name.ShortTag(), name.Value} }

func isMerge(name *yaml.Node) bool {
	return name.Kind == yaml.ScalarNode && name.Style == 0 && name.Value == "<<"
}

// isMapping reports anything else as a finding.
func (p *parser) isMapping(n *yaml.Node, what string) bool {
	if n.Kind != yaml.MappingNode && n.Kind != yaml.AliasNode {
		p.sayAt(n, "wrong-type", what+" is "+shape(n)+", not a mapping", "write lines of KEY: VALUE")
	}
	return n.Kind == yaml.MappingNode
}

// list returns the elements of a list, and reports anything else as a finding.
func (p *parser) list(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode && n.Kind != yaml.AliasNode {
		p.sayAt(n, "wrong-type", what+" is "+shape(n)+", not a list", "start each element with a dash")
	}
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// text returns a string that is not blank, or nil.
func (p *parser) text(n *yaml.Node, what string) *Text {
	t := p.anyText(n, what)
	if t != nil && strings.TrimSpace(t.Value) == "" {
		p.sayAt(n, "empty-text", what+" is empty", "give it a value, or remove the key")
		return nil
	}
	return t
}

// anyText returns a string, or nil.
func (p *parser) anyText(n *yaml.Node, what string) *Text {
	hint := "put it in quotes"
	switch {
	case n.Kind == yaml.AliasNode:
		return nil
	case n.Style&yaml.TaggedStyle != 0:
		p.sayTag(n)
		return nil
	case n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp"):
		return p.textOf(n)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		hint = "give it a value, or remove the key"
	case what == "drop":
		hint = "say why the value is not needed"
	case what == "mayBeAbsent":
		hint = "say why the value is not there"
	}
	p.sayAt(n, "wrong-type", what+" is "+shape(n)+", not a string", hint)
	return nil
}

// expression returns a CEL expression, which may look like a number or a boolean to YAML.
func (p *parser) expression(n *yaml.Node, what string) *Text {
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" && n.Value != "" {
		return p.textOf(n)
	}
	return p.text(n, what)
}

func (p *parser) textOf(n *yaml.Node) *Text {
	return &Text{Pos: p.source.of(n), Value: n.Value, origin: origin{source: p.source, node: n}}
}

// shape says what a node is.
func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode, yaml.DocumentNode, yaml.AliasNode:
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	}
	return "a string"
}
