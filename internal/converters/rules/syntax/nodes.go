package syntax

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// A key of a mapping: how its value is read into a T, and what the JSON Schema says of it.
type key[T any] struct {
	name     string
	doc      string
	required bool
	schema   schema
	read     func(p *parser, into *T, value *yaml.Node)
}

// mapping reads the keys of a mapping; what names it in messages ("a rule"). It is false if the node is no mapping.
func mapping[T any](p *parser, n *yaml.Node, what string, keys []key[T], into *T) bool {
	if !p.isMapping(n, what) {
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Kind != yaml.ScalarNode || isMerge(name) || seen[name.Value] {
			continue // said by sound
		}
		seen[name.Value] = true
		at := slices.IndexFunc(keys, func(k key[T]) bool { return k.name == name.Value })
		if at < 0 {
			p.sayUnknownKey(name, what, namesOf(keys))
			continue
		}
		keys[at].read(p, into, value)
	}
	for _, k := range keys {
		if k.required && !seen[k.name] {
			p.say(p.source.of(n), "missing-key", what+" has no key "+k.name, "add it: "+k.doc)
		}
	}
	return true
}

// hasOther reports whether a mapping has other keys.
func hasOther[T any](n *yaml.Node, keys []key[T]) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if !slices.Contains(namesOf(keys), n.Content[i].Value) {
			return true
		}
	}
	return false
}

func namesOf[T any](keys []key[T]) []string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

func (p *parser) sayUnknownKey(n *yaml.Node, what string, known []string) {
	hint := didyoumean.Hint(n.Value, known, "the keys are "+strings.Join(known, ", "))
	p.sayAt(n, "unknown-key", fmt.Sprintf("%s has no key %.64q", what, n.Value), hint)
}

// isMapping says so if the node is something else.
func (p *parser) isMapping(n *yaml.Node, what string) bool {
	if n.Kind != yaml.MappingNode && n.Kind != yaml.AliasNode {
		p.sayAt(n, "wrong-type", what+" is "+shape(n)+", not a mapping", "write lines of KEY: VALUE")
	}
	return n.Kind == yaml.MappingNode
}

// list returns the elements of a list, and says so if the node is something else.
func (p *parser) list(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode && n.Kind != yaml.AliasNode {
		p.sayAt(n, "wrong-type", what+" is "+shape(n)+", not a list", "start each element with a dash")
	}
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// text returns a string that is not empty, or nil.
func (p *parser) text(n *yaml.Node, what string) *Text {
	t := p.anyText(n, what)
	if t != nil && strings.TrimSpace(t.Value) == "" {
		p.sayAt(n, "empty-text", what+" is empty", "write it down, or remove the key")
		return nil
	}
	return t
}

// anyText returns a string, or nil.
func (p *parser) anyText(n *yaml.Node, what string) *Text {
	switch {
	case n.Kind == yaml.AliasNode:
		return nil
	case n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp"):
		return p.textOf(n)
	}
	hint := "put it in quotes"
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		hint = "write it down, or remove the key"
	case what == "drop":
		hint = "write why nobody needs the value"
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
