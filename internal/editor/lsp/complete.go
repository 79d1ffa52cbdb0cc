package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// maxItems bounds the paths that a completion offers.
const maxItems = 400

// maxDepth bounds the fields of a path that a completion offers.
const maxDepth = 20

// nodeAt returns the place of segments below a schema, or nil.
func nodeAt(n *crdschema.Node, segments []syntax.Segment) *crdschema.Node {
	for _, s := range segments {
		switch {
		case s.Kind == syntax.Field && n.Kind() == crdschema.Map, s.Kind == syntax.Values, s.Kind == syntax.KeyedValues:
			n = n.Values()
		case s.Kind == syntax.Field:
			n = n.Property(s.Name)
		default:
			n = n.Items()
		}
	}
	return n
}

// complete offers what fits at the cursor, up to byte at: words of the format, or paths.
func (a *analysis) complete(text []string, line, at int, e encoding) completionList {
	list := completionList{Items: []completionItem{}}
	if a.words(&list, text, line, at, e) {
		return list
	}
	if c, ok := cursorAt(text, line, at); ok {
		scopes := a.scopes(&c)
		known := map[string]bool{}
		for i := range scopes {
			a.paths(&list, known, &scopes[i], text[line][c.from:at], &c, e.span(text, line, c.from, c.to))
		}
	}
	return list
}

// paths adds the paths of the cursor's version that begin as the one at the cursor does, the
// shortest first.
func (a *analysis) paths(list *completionList, known map[string]bool, s *scope, prefix string, c *cursor, at span) {
	base := prefix[:max(strings.LastIndexAny(prefix, ".[{"), 0)]
	var segments []syntax.Segment
	if base != "" {
		read, err := syntax.ParsePath(base)
		if err != nil {
			return
		}
		segments = read.Segments
	}
	from, own, other := s.end(c.side)
	classes := map[string]string{}
	for _, d := range a.directions[s.crd.Name] {
		if d.From == own && d.To == other {
			for _, atom := range d.Atoms {
				classes[atom.Path] = string(atom.Class)
			}
		}
	}
	type place struct {
		path string
		node *crdschema.Node
	}
	queue := []place{{base, nodeAt(from.node, segments)}}
	for len(queue) > 0 && !list.IsIncomplete {
		next := queue[0]
		queue = queue[1:]
		var below []place
		for _, name := range next.node.Properties() {
			if from.path != "" || next.path != "" || name != "apiVersion" && name != "kind" {
				below = append(below, place{next.path + syntax.Segment{Name: name}.String(), next.node.Property(name)})
			}
		}
		if next.node.Kind() == crdschema.Array {
			below = append(below, place{next.path + "[]", next.node.Items()})
		}
		if next.node.Kind() == crdschema.Map {
			below = append(below, place{next.path + "{}", next.node.Values()})
		}
		for _, p := range below {
			if !strings.HasPrefix(p.path, prefix) {
				continue
			}
			if strings.Count(p.path, ".") <= maxDepth { // a type may occur in itself
				queue = append(queue, p)
			}
			if known[p.path] {
				continue
			}
			if list.IsIncomplete = len(list.Items) >= maxItems; list.IsIncomplete {
				break
			}
			known[p.path] = true
			list.Items = append(list.Items, itemOf(p.path, p.node, own, classes[canonical(from.path+p.path)], len(list.Items), c, at))
		}
	}
}

func itemOf(path string, n *crdschema.Node, version, class string, order int, c *cursor, at span) completionItem {
	const kindField, kindModule = 5, 9
	item := completionItem{Label: path, Kind: kindField, Detail: strings.TrimSpace(n.Kind().String() + " in " + version), FilterText: path}
	if class != "" {
		item.Detail += ", " + class
	}
	if !n.Scalar() {
		item.Kind = kindModule
	}
	sort := 1
	if class == string(check.Unmapped) {
		sort = 0 // these need a rule
	}
	item.SortText = fmt.Sprintf("%d%05d", sort, order)
	item.TextEdit = textEdit{at, path}
	if c.flow {
		item.TextEdit.NewText = syntax.Quoted(path)
	}
	return item
}

// canonical writes a path as explain does: [] for any element, {} for any entry.
func canonical(path string) string {
	read, err := syntax.ParsePath(path)
	if err != nil {
		return path
	}
	for i, s := range read.Segments {
		switch s.Kind {
		case syntax.KeyedElements, syntax.Pick, syntax.First:
			read.Segments[i] = syntax.Segment{Kind: syntax.Elements}
		case syntax.KeyedValues:
			read.Segments[i] = syntax.Segment{Kind: syntax.Values}
		case syntax.Field, syntax.Elements, syntax.Values:
		}
	}
	return read.String()
}

// hover says what becomes of the field at the cursor, and what it comes from. It returns nil where
// there is none.
func (a *analysis) hover(text []string, line, at int, e encoding) *hover {
	c, ok := cursorAt(text, line, at)
	if !ok || c.path == "" {
		return nil
	}
	read, err := syntax.ParsePath(c.path)
	if err != nil {
		return nil
	}
	var says []string
	scopes := a.scopes(&c)
	for i := range scopes {
		more := a.says(&scopes[i], &c, read.Segments)
		if len(more) > 0 && len(says) > maxSaid {
			says = append(says, "", "and more places that use the rule set")
			break
		}
		if len(more) > 0 && len(says) > 0 {
			says = append(says, "")
		}
		says = append(says, more...)
	}
	if says == nil {
		return nil
	}
	return &hover{markup{"markdown", strings.Join(says, "\n")}, e.span(text, line, c.from, c.to)}
}

// maxSaid is after how many lines a hover leaves out the other places of a rule set.
const maxSaid = 20

// says returns what becomes of the field of a cursor in a scope, in lines. It is nil where the
// scope has no such field.
func (a *analysis) says(s *scope, c *cursor, segments []syntax.Segment) []string {
	from, own, other := s.end(c.side)
	node := nodeAt(from.node, segments)
	if node == nil {
		return nil
	}
	whole := from.path + c.path
	says := []string{fmt.Sprintf("%#q is %s in %s", whole, node.Kind(), own)}
	if s.inRuleSet {
		says[0] += " of " + s.crd.Name
	}
	path := canonical(whole)
	for _, d := range a.directions[s.crd.Name] {
		for _, atom := range d.Atoms {
			switch {
			case d.From == own && d.To == other && canonical(atom.Path) == path:
				says = append(says, fmt.Sprintf("- %s → %s: %s", own, other, becomes(atom)))
			case d.From == other && d.To == own && comesTo(atom, path):
				says = append(says, fmt.Sprintf("- %s → %s: from %#q, %s", other, own, atom.Path, becomes(atom)))
			}
		}
	}
	return says
}

// comesTo reports whether an atom gives the other version its value at a path.
func comesTo(a check.Atom, path string) bool {
	if a.Class != check.Copied && a.Class != check.Mapped {
		return false
	}
	if a.To == "" {
		return canonical(a.Path) == path
	}
	return slices.ContainsFunc(strings.Split(a.To, ", "), func(to string) bool { return canonical(to) == path })
}

func becomes(a check.Atom) string {
	text := string(a.Class)
	if a.Kind != check.Value {
		text = string(a.Kind) + " " + text
	}
	if a.To != "" && a.To != a.Path {
		text += " to `" + strings.ReplaceAll(a.To, ", ", "`, `") + "`"
	}
	if a.Rule != "" {
		text += " by " + a.Rule
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}
