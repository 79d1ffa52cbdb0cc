package syntax

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// literal returns a value as JSON text, or nil.
func (p *parser) literal(n *yaml.Node) *Literal {
	l := &Literal{Pos: p.source.of(n)}
	switch n.Kind {
	case yaml.AliasNode, yaml.DocumentNode:
		return nil
	case yaml.ScalarNode:
		l.JSON = p.scalar(n)
	case yaml.SequenceNode:
		l.JSON = p.listJSON(n)
	case yaml.MappingNode:
		l.Members = p.members(n)
		l.JSON = objectJSON(l.Members)
	}
	if l.JSON == nil {
		return nil
	}
	return l
}

func (p *parser) listJSON(n *yaml.Node) []byte {
	text := []byte{'['}
	for i, c := range n.Content {
		element := p.literal(c)
		if element == nil {
			return nil
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, element.JSON...)
	}
	return append(text, ']')
}

// members returns the members of a mapping that are JSON.
func (p *parser) members(n *yaml.Node) []Member {
	members := make([]Member, 0, len(n.Content)/2)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode || isMerge(name) {
			continue // said by sound
		}
		if name.ShortTag() != "!!str" {
			message := fmt.Sprintf("the key %.64q is %s to YAML, and JSON has strings only", name.Value, shape(name))
			p.sayAt(name, "key-not-a-string", message, "put it in quotes")
			continue
		}
		if value := p.literal(n.Content[i+1]); value != nil && !seen[name.Value] {
			seen[name.Value] = true
			members = append(members, Member{Name: name.Value, NamePos: p.source.of(name), Literal: *value})
		}
	}
	return members
}

func objectJSON(members []Member) []byte {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, jsondoc.StringValue(m.Name).Text()...)
		text = append(text, ':')
		text = append(text, m.JSON...)
	}
	return append(text, '}')
}

// scalar returns the JSON of a scalar by the core schema of YAML 1.2 (section 10.3), and says so if there is none. Numbers
// are spelt as the API server will store them, so that what a rule writes is what comes back; those that not every reader of
// YAML takes for the same number are refused.
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
		if number, err := jsondoc.CanonicalNumber(n.Value); isNumber(n.Value) && err == nil {
			return []byte(number)
		}
		p.sayAt(n, "not-a-json-number", "a number that JSON cannot spell", "write it in decimal digits, or put it in quotes")
		return nil
	}
	p.sayAt(n, "not-json", "a value that JSON does not have", "put it in quotes")
	return nil
}

// isNumber tells numbers by RFC 8259, section 6.
func isNumber(text string) bool {
	ok, err := regexp.MatchString(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`, text)
	return ok && err == nil
}

// mappings returns the entries of values, in the order of the file.
func (p *parser) mappings(n *yaml.Node, what string) []Mapping {
	if !p.isMapping(n, what) {
		return nil
	}
	if len(n.Content) == 0 {
		p.say(p.source.of(n), "empty-values", what+" has no entries", "write A: B for each value that is another one on the other side")
	}
	var entries []Mapping
	seen := map[[2]string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		from, to := n.Content[i], n.Content[i+1]
		if from.Kind != yaml.ScalarNode || isMerge(from) || to.Kind == yaml.AliasNode {
			continue // said by sound
		}
		id := [2]string{from.ShortTag(), from.Value}
		if seen[id] {
			continue // said by sound
		}
		seen[id] = true
		if to.Kind != yaml.ScalarNode {
			p.sayAt(to, "wrong-type", what+" maps to "+shape(to), "write a single value; for lists and objects, use toHub and fromHub")
			continue
		}
		m := Mapping{
			Pos:  p.source.of(from),
			From: Scalar{Pos: p.source.of(from), JSON: p.scalar(from)},
			To:   Scalar{Pos: p.source.of(to), JSON: p.scalar(to)},
		}
		if m.From.JSON != nil && m.To.JSON != nil {
			entries = append(entries, m)
		}
	}
	return entries
}
