package syntax

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// literal returns a value as JSON text, or nil.
func (p *parser) literal(n *yaml.Node) *Literal {
	l := &Literal{Pos: p.source.of(n)}
	switch n.Kind {
	case yaml.AliasNode, yaml.DocumentNode:
	case yaml.ScalarNode:
		l.JSON = p.scalar(n)
	case yaml.SequenceNode:
		elements := make([][]byte, 0, len(n.Content))
		for _, c := range n.Content {
			element := p.literal(c)
			if element == nil {
				return nil
			}
			l.Elements, elements = append(l.Elements, *element), append(elements, element.JSON)
		}
		l.JSON = fmt.Appendf(nil, "[%s]", bytes.Join(elements, []byte{','}))
	case yaml.MappingNode:
		l.Members = p.members(n)
		members := make([][]byte, 0, len(l.Members))
		for _, m := range l.Members {
			members = append(members, fmt.Appendf(nil, "%s:%s", jsondoc.StringValue(m.Name).Text(), m.JSON))
		}
		l.JSON = fmt.Appendf(nil, "{%s}", bytes.Join(members, []byte{','}))
	}
	if l.JSON == nil {
		return nil
	}
	return l
}

// members returns the members of a mapping that are JSON.
func (p *parser) members(n *yaml.Node) []Member {
	members := make([]Member, 0, len(n.Content)/2)
	for name, value := range entries(n) {
		if name.ShortTag() != "!!str" {
			message := fmt.Sprintf("the key %.64q is %s in YAML, and keys in JSON are strings", name.Value, shape(name))
			p.sayAt(name, "key-not-a-string", message, "put it in quotes")
		} else if l := p.literal(value); l != nil {
			members = append(members, Member{Name: name.Value, NamePos: p.source.of(name), Literal: *l})
		}
	}
	return members
}

// scalar returns the JSON of a scalar by the core schema of YAML 1.2 (section 10.3), or reports
// that it has none. A number is spelt as the API server stores it, so that what a rule writes is
// what comes back. Numbers that readers of YAML disagree about are refused.
func (p *parser) scalar(n *yaml.Node) []byte {
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		return jsondoc.StringValue(n.Value).Text()
	case "!!null":
		return []byte("null")
	case "!!bool":
		var value bool
		if err := n.Decode(&value); err == nil {
			return fmt.Append(nil, value)
		}
	case "!!int", "!!float":
		if number, err := jsondoc.CanonicalNumber(n.Value); json.Valid([]byte(n.Value)) && err == nil {
			return []byte(number)
		}
		p.sayAt(n, "not-a-json-number", "JSON has no such number", "write it in decimal digits, or put it in quotes")
		return nil
	}
	p.sayAt(n, "not-json", "JSON has no such value", "put it in quotes")
	return nil
}

// mappings returns the entries of values, in the order of the file.
func (p *parser) mappings(n *yaml.Node, what string) []Mapping {
	if !p.isMapping(n, what) {
		return nil
	}
	if len(n.Content) == 0 {
		p.say(p.source.of(n), "empty-values", what+" has no entries", "write A: B for each value that differs on the other side")
	}
	var mappings []Mapping
	for from, to := range entries(n) {
		switch to.Kind {
		case yaml.AliasNode:
		case yaml.ScalarNode:
			m := Mapping{
				Pos:  p.source.of(from),
				From: Scalar{Pos: p.source.of(from), JSON: p.scalar(from)},
				To:   Scalar{Pos: p.source.of(to), JSON: p.scalar(to)},
			}
			if m.From.JSON != nil && m.To.JSON != nil {
				mappings = append(mappings, m)
			}
		case yaml.DocumentNode, yaml.SequenceNode, yaml.MappingNode:
			p.sayAt(to, "wrong-type", what+" maps to "+shape(to), "write a single value; for lists and objects, use toHub and toSpoke")
		}
	}
	return mappings
}
