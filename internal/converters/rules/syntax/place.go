package syntax

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place reads a path, a mapping of names to paths, or a list of paths. It returns nil if a path
// cannot be read.
func (p *parser) place(n *yaml.Node, what string) *Place {
	switch n.Kind {
	case yaml.MappingNode:
		return p.namedPlace(n, what)
	case yaml.SequenceNode:
		return p.listedPlaces(n, what)
	case yaml.ScalarNode, yaml.AliasNode, yaml.DocumentNode:
	}
	path, ok := p.path(n, what)
	if !ok {
		return nil
	}
	return &Place{Pos: path.Pos, Paths: []NamedPath{path}}
}

// variablePattern is the form of names that templates and expressions can use.
const variablePattern = `^[A-Za-z_][A-Za-z0-9_]*$`

func (p *parser) namedPlace(n *yaml.Node, what string) *Place {
	place := &Place{Pos: p.source.of(n), Named: true}
	if len(n.Content) == 0 {
		p.sayAt(n, "empty-place", what+" has no paths", "write one path, or named paths: {name: .path}")
		return nil
	}
	if first := n.Content[0]; strings.HasPrefix(first.Value, ".") && n.Content[1].ShortTag() == "!!null" {
		p.sayAt(n, "path-in-braces", what+" has a path in braces", "drop the braces: write "+what+": "+hintPath(first.Value))
		return nil
	}
	usable := regexp.MustCompile(variablePattern)
	for name, value := range entries(n) {
		if !usable.MatchString(name.Value) {
			message := fmt.Sprintf("%s: %.64q is not a name that templates and expressions can use", what, name.Value)
			p.sayAt(name, "bad-name", message, "use letters, digits and _, starting with a letter")
		}
		if path, ok := p.path(value, what); ok {
			path.Name, path.NamePos = name.Value, p.source.of(name)
			place.Paths = append(place.Paths, path)
		}
	}
	if len(place.Paths) < len(n.Content)/2 {
		return nil
	}
	return place
}

// listedPlaces reads a list of paths, each of which is a place of its own.
func (p *parser) listedPlaces(n *yaml.Node, what string) *Place {
	place := &Place{Pos: p.source.of(n), listed: true}
	if len(n.Content) == 0 {
		p.sayAt(n, "empty-place", what+" has no paths", "write one path, or a list of them, in quotes if they start with a bracket")
		return nil
	}
	lines := map[string]int{}
	for _, value := range n.Content {
		path, ok := p.path(value, what)
		if !ok {
			continue
		}
		if line := lines[path.Path.Text]; line > 0 {
			p.sayAt(value, "place-twice", fmt.Sprintf("%s lists a path twice, the first is on line %d: %.200s", what, line, path.Path.Text), "remove one of them")
			continue
		}
		lines[path.Path.Text] = path.Pos.Line
		place.Paths = append(place.Paths, path)
	}
	if len(place.Paths) < len(n.Content) {
		return nil
	}
	return place
}

// each returns the rules of a rule whose only place is a list: one for each path. Any other rule is
// the only one.
func (r *Rule) each() []*Rule {
	var all []*Rule
	for _, place := range []func(*Rule) **Place{
		func(r *Rule) **Place { return &r.Spoke }, func(r *Rule) **Place { return &r.Hub },
	} {
		if *place(r) == nil || !(*place(r)).listed {
			continue
		}
		for i := range (*place(r)).Paths {
			one := *r
			path := (*place(r)).Paths[i]
			one.Pos, *place(&one) = path.Pos, &Place{Pos: path.Pos, Paths: []NamedPath{path}}
			if r.MayBeAbsent != nil { // each excuses something or not
				one.MayBeAbsent = &Text{Pos: path.Pos, Value: r.MayBeAbsent.Value, origin: r.MayBeAbsent.origin}
			}
			all = append(all, &one)
		}
		return all
	}
	return []*Rule{r}
}

// path reads one path. YAML may take it for a number (.inf).
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
		message := fmt.Sprintf("%s path %.200s: %s", what, n.Value, wrong.Problem)
		p.sayIn(named.origin, wrong.Offset, wrong.End, "bad-path", message, wrong.Hint)
	}
	return named, err == nil
}
