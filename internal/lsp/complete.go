package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// maxItems bounds the paths that a completion offers.
const maxItems = 400

// versions returns the names of the version that a cursor is in and of the other one.
func (a *analysis) versions(c *cursor) (crd *crdschema.CRD, own, other string) {
	for _, known := range a.crds {
		if known.Name == c.kind {
			crd = known
		}
	}
	i := slices.IndexFunc(c.versions, func(name string) bool { return crd.Version(name) != nil && name != c.hub })
	if crd == nil || i < 0 || crd.Version(c.hub) == nil {
		return nil, "", ""
	}
	if c.side == binding.OfHub {
		return crd, c.hub, c.versions[i]
	}
	return crd, c.versions[i], c.hub
}

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

// complete offers the paths of the cursor's version that begin as the path at the cursor does, up
// to byte at, the shortest first.
func (a *analysis) complete(text []string, line, at int, e encoding) completionList {
	list := completionList{Items: []completionItem{}}
	c, ok := cursorAt(text, line, at)
	if !ok {
		return list
	}
	crd, own, other := a.versions(&c)
	if crd == nil {
		return list
	}
	prefix := text[line][c.from:at]
	base := prefix[:max(strings.LastIndexAny(prefix, ".[{"), 0)]
	var segments []syntax.Segment
	if base != "" {
		read, err := syntax.ParsePath(base)
		if err != nil {
			return list
		}
		segments = read.Segments
	}
	classes := map[string]string{}
	for _, d := range a.directions[crd.Name] {
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
	queue := []place{{base, nodeAt(crd.Version(own).Root, segments)}}
	for len(queue) > 0 && !list.IsIncomplete {
		from := queue[0]
		queue = queue[1:]
		var below []place
		for _, name := range from.node.Properties() {
			if from.path != "" || name != "apiVersion" && name != "kind" {
				below = append(below, place{from.path + syntax.Segment{Name: name}.String(), from.node.Property(name)})
			}
		}
		if from.node.Kind() == crdschema.Array {
			below = append(below, place{from.path + "[]", from.node.Items()})
		}
		if from.node.Kind() == crdschema.Map {
			below = append(below, place{from.path + "{}", from.node.Values()})
		}
		for _, p := range below {
			queue = append(queue, p)
			if !strings.HasPrefix(p.path, prefix) {
				queue = queue[:len(queue)-1]
				continue
			}
			if list.IsIncomplete = len(list.Items) >= maxItems; list.IsIncomplete {
				break
			}
			list.Items = append(list.Items, itemOf(p.path, p.node, own, classes[canonical(p.path)], len(list.Items), &c, e.span(text, line, c.from, c.to)))
		}
	}
	return list
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
	crd, own, other := a.versions(&c)
	read, err := syntax.ParsePath(c.path)
	if crd == nil || err != nil {
		return nil
	}
	node := nodeAt(crd.Version(own).Root, read.Segments)
	if node == nil {
		return nil
	}
	says := []string{fmt.Sprintf("%#q is %s in %s", c.path, node.Kind(), own)}
	path := canonical(c.path)
	for _, d := range a.directions[crd.Name] {
		for _, atom := range d.Atoms {
			switch {
			case d.From == own && d.To == other && canonical(atom.Path) == path:
				says = append(says, fmt.Sprintf("- %s → %s: %s", own, other, becomes(atom)))
			case d.From == other && d.To == own && comesTo(atom, path):
				says = append(says, fmt.Sprintf("- %s → %s: from %#q, %s", other, own, atom.Path, becomes(atom)))
			}
		}
	}
	return &hover{markup{"markdown", strings.Join(says, "\n")}, e.span(text, line, c.from, c.to)}
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
