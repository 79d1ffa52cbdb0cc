package syntax

import (
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// place reads a path, or a mapping of names to paths. It returns nil where nothing is left of it.
func (p *parser) place(n *yaml.Node, what string) *Place {
	switch n.Kind {
	case yaml.AliasNode, yaml.DocumentNode:
		return nil
	case yaml.MappingNode:
		return p.namedPlace(n, what)
	case yaml.SequenceNode:
		hint := "write one path, in quotes if it starts with a bracket, or named paths: {name: .path}"
		p.sayAt(n, "wrong-type", what+" is a list, not a path", hint)
		return nil
	case yaml.ScalarNode:
	}
	path, ok := p.path(n, what)
	if !ok {
		return nil
	}
	return &Place{Pos: path.Pos, Paths: []NamedPath{path}}
}

func (p *parser) namedPlace(n *yaml.Node, what string) *Place {
	place := &Place{Pos: p.source.of(n), Named: true}
	if len(n.Content) == 0 {
		p.sayAt(n, "empty-place", what+" has no paths", "write one path, or named paths: {name: .path}")
		return nil
	}
	complete := true
	seen := map[string]bool{}
	usable := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Kind != yaml.ScalarNode || isMerge(name) || seen[name.Value] {
			complete = false
			continue // said by sound
		}
		seen[name.Value] = true
		if !usable.MatchString(name.Value) {
			message := fmt.Sprintf("%s: %.64q is not a name that templates and expressions can use", what, name.Value)
			p.sayAt(name, "bad-name", message, "write letters, digits and _, and a letter first")
		}
		path, ok := p.path(value, what)
		if !ok {
			complete = false
			continue
		}
		path.Name, path.NamePos = name.Value, p.source.of(name)
		place.Paths = append(place.Paths, path)
	}
	if !complete {
		return nil
	}
	return place
}

// path reads one path; YAML may take it for a number (.inf).
func (p *parser) path(n *yaml.Node, what string) (NamedPath, bool) {
	if n.Kind == yaml.AliasNode {
		return NamedPath{}, false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		p.sayAt(n, "wrong-type", what+" is "+shape(n)+", not a path", "write a field as .name; a path that starts with a bracket needs quotes")
		return NamedPath{}, false
	}
	read, err := ParsePath(n.Value)
	named := NamedPath{Pos: p.source.of(n), Path: read, origin: origin{source: p.source, node: n}}
	if wrong, ok := errors.AsType[*PathError](err); ok {
		at, end := span(named.origin, wrong.Offset, wrong.End)
		p.findings = append(p.findings, finding.Finding{
			Pos: at, EndColumn: end, Code: "bad-path", Message: fmt.Sprintf("%s path %.200s: %s", what, n.Value, wrong.Problem), Hint: wrong.Hint,
		})
	}
	return named, err == nil
}
