package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// An item is a rule as it applies below some place: what is left of its paths from there on.
type item struct {
	rule       *syntax.Rule
	field, hub [][]syntax.Segment
}

// A relation is how a place of a version and one of the hub relate: the two objects as a whole, an element of a list and
// its counterpart, the places of a rule set. Programs for both directions are made from it. It is recursive where rule sets
// are.
type relation struct {
	field, hub spot
	links      []*tie
	groups     []*group
	// The key field of the side whose values are elements of a list, where those of the other are in a map.
	fieldKey, hubKey string

	toHub, fromHub *program
}

// A tie is a rule of a relation that goes through no elements.
type tie struct {
	rule       *syntax.Rule
	field, hub []end
	t          transform.Transform // nil of one-sided rules that compute nothing
	when       [2]transform.Guard  // for the conversion to the hub, and from it
	below      *relation           // of `use`
	plain      bool                // it hands its value on
}

// An end is a path of a rule and what the schema has there.
type end struct {
	path []syntax.Segment
	spot spot
	base spot // what the path starts at
}

// A group are all rules that go through the elements of the same two lists or maps.
type group struct {
	field, hub       end
	fieldBy, hubBy   syntax.Segment // the segments that go through them
	rel              *relation
	items            []item
	fieldEl, hubEl   spot
	fieldKey, hubKey string // of lists, the name of the field that elements are known by, or empty
}

// A compiler makes the relations of one version and the hub.
type compiler struct {
	conversion *syntax.Conversion
	env        *transform.Env
	fieldRoot  *crdschema.Node
	hubRoot    *crdschema.Node
	relations  map[string]*relation
	findings   []finding.Finding
}

// root makes the relation of whole objects.
func (c *compiler) root(rules []*syntax.Rule) *relation {
	return c.relate(itemsOf(rules), spot{c.fieldRoot, true}, spot{c.hubRoot, true}, "", "")
}

func itemsOf(rules []*syntax.Rule) []item {
	var items []item
	for _, r := range rules {
		if !r.Broken {
			items = append(items, item{r, pathsOf(r.Field), pathsOf(r.Hub)})
		}
	}
	return items
}

func pathsOf(p *syntax.Place) [][]syntax.Segment {
	if p == nil {
		return nil
	}
	paths := make([][]syntax.Segment, 0, len(p.Paths))
	for _, n := range p.Paths {
		paths = append(paths, n.Path.Segments)
	}
	return paths
}

// relate returns the relation of two places under some rules, which it makes only once: recursion ends there.
func (c *compiler) relate(items []item, field, hub spot, fieldKey, hubKey string) *relation {
	items = c.spliced(items)
	var key strings.Builder
	fmt.Fprintf(&key, "%p %t %p %t %q %q", field.node, field.known, hub.node, hub.known, fieldKey, hubKey)
	for _, i := range items {
		fmt.Fprintf(&key, " %p", i.rule)
		for _, side := range [][][]syntax.Segment{i.field, i.hub} {
			for _, path := range side {
				fmt.Fprintf(&key, ",%d", len(path))
			}
			key.WriteByte('/')
		}
	}
	if r := c.relations[key.String()]; r != nil {
		return r
	}
	r := &relation{field: field, hub: hub, fieldKey: fieldKey, hubKey: hubKey}
	c.relations[key.String()] = r
	var loose []item
	for _, i := range items {
		switch {
		case !iterates(i):
			if t := c.tie(i, field, hub); t != nil {
				r.links = append(r.links, t)
			}
		case i.field == nil || i.hub == nil:
			loose = append(loose, i)
		default:
			c.group(r, i)
		}
	}
	for _, i := range loose {
		c.loose(r, i)
	}
	for _, g := range r.groups {
		fieldBind, hubBind := "", ""
		switch {
		case isMap(g.fieldBy) && !isMap(g.hubBy):
			hubBind = g.hubBy.Name
		case isMap(g.hubBy) && !isMap(g.fieldBy):
			fieldBind = g.fieldBy.Name
		}
		g.rel = c.relate(g.items, g.fieldEl, g.hubEl, fieldBind, hubBind)
	}
	return r
}

// spliced replaces each `use` between the two places themselves by the rules of the set.
func (c *compiler) spliced(items []item) []item {
	for range 32 {
		i := slices.IndexFunc(items, func(i item) bool {
			return i.rule.Use != nil && len(i.field) == 1 && len(i.field[0]) == 0 && len(i.hub) == 1 && len(i.hub[0]) == 0
		})
		if i < 0 {
			break
		}
		set := c.conversion.RuleSet(items[i].rule.Use.Value)
		var more []item
		if set != nil {
			more = itemsOf(set.Rules)
		}
		items = slices.Concat(items[:i:i], more, items[i+1:])
	}
	return items
}

func iterates(i item) bool { return firstIterating(i.field) >= 0 || firstIterating(i.hub) >= 0 }

// firstIterating returns where the first segment is that goes through elements, or -1. All paths of a side share it.
func firstIterating(paths [][]syntax.Segment) int {
	if len(paths) == 0 {
		return -1
	}
	return slices.IndexFunc(paths[0], syntax.Segment.Iterates)
}

// tie compiles a rule, or returns nil where a side of it does not exist: at the end of a recursive type, or in a file with
// findings.
func (c *compiler) tie(i item, field, hub spot) *tie {
	t := &tie{rule: i.rule}
	var ok bool
	if t.field, ok = ends(i.field, field); !ok {
		return nil
	}
	if t.hub, ok = ends(i.hub, hub); !ok {
		return nil
	}
	r := i.rule
	if r.Drop != nil {
		return t
	}
	two := r.Field != nil && r.Hub != nil
	if set := r.Use; set != nil && two {
		s := c.conversion.RuleSet(set.Value)
		if s == nil {
			return nil
		}
		t.plain, t.below = true, c.relate(itemsOf(s.Rules), t.field[0].spot, t.hub[0].spot, "", "")
	}
	computes := r.Values != nil || r.HubValues != nil || r.Template != nil || r.Codec != nil || r.ToHub != nil ||
		r.FromHub != nil || r.Go != nil
	if two && !computes && len(t.field) == 1 && len(t.hub) == 1 {
		t.plain = true
	}
	if two && !t.plain || computes {
		var found []finding.Finding
		t.t, found = transform.Compile(c.env, r, nodesOf(t.field), nodesOf(t.hub), c.fieldRoot, c.hubRoot)
		c.findings = append(c.findings, found...)
	}
	t.when = [2]transform.Guard{c.guard(r, false, t.field, c.fieldRoot), c.guard(r, true, t.hub, c.hubRoot)}
	return t
}

func (c *compiler) guard(r *syntax.Rule, backward bool, ends []end, root *crdschema.Node) transform.Guard {
	g, found := transform.CompileGuard(c.env, r, backward, nodesOf(ends), root)
	c.findings = append(c.findings, found...)
	return g
}

func ends(paths [][]syntax.Segment, base spot) ([]end, bool) {
	var all []end
	for _, path := range paths {
		s, ok := base.at(path)
		if !ok {
			return nil, false
		}
		all = append(all, end{path, s, base})
	}
	return all, true
}

func nodesOf(ends []end) []*crdschema.Node {
	nodes := make([]*crdschema.Node, 0, len(ends))
	for _, e := range ends {
		nodes = append(nodes, e.spot.node)
	}
	return nodes
}

// group puts a rule that goes through elements on both sides into the group of its lists.
func (c *compiler) group(r *relation, i item) {
	f, h := firstIterating(i.field), firstIterating(i.hub)
	if f < 0 || h < 0 {
		return
	}
	g := c.groupOf(r, i.field[0][:f], i.hub[0][:h], i.field[0][f], i.hub[0][h])
	if g == nil {
		return
	}
	g.items = append(g.items, item{i.rule, rest(i.field, f+1), rest(i.hub, h+1)})
}

func rest(paths [][]syntax.Segment, from int) [][]syntax.Segment {
	all := make([][]syntax.Segment, 0, len(paths))
	for _, path := range paths {
		all = append(all, path[from:])
	}
	return all
}

// groupOf finds or makes the group of two lists or maps. A list has one counterpart: a second one is refused, and its rules
// do nothing.
func (c *compiler) groupOf(r *relation, field, hub []syntax.Segment, fieldBy, hubBy syntax.Segment) *group {
	for _, g := range r.groups {
		sameField, sameHub := samePath(g.field.path, field), samePath(g.hub.path, hub)
		switch {
		case sameField && sameHub && isMap(g.fieldBy) == isMap(fieldBy) && isMap(g.hubBy) == isMap(hubBy):
			if g.fieldKey == "" {
				g.fieldKey = keyOf(fieldBy)
			}
			if g.hubKey == "" {
				g.hubKey = keyOf(hubBy)
			}
			return g
		case sameField || sameHub:
			return nil
		}
	}
	f, okField := r.field.at(field)
	h, okHub := r.hub.at(hub)
	if !okField || !okHub {
		return nil
	}
	g := &group{
		field: end{field, f, r.field}, hub: end{hub, h, r.hub}, fieldBy: fieldBy, hubBy: hubBy,
		fieldKey: keyOf(fieldBy), hubKey: keyOf(hubBy), fieldEl: elementOf(f, fieldBy), hubEl: elementOf(h, hubBy),
	}
	if !g.fieldEl.known || !g.hubEl.known {
		return nil
	}
	r.groups = append(r.groups, g)
	return g
}

func elementOf(s spot, by syntax.Segment) spot {
	if isMap(by) {
		return s.others()
	}
	return s.items()
}

func isMap(s syntax.Segment) bool { return s.Kind == syntax.Values || s.Kind == syntax.KeyedValues }

func keyOf(s syntax.Segment) string {
	if s.Kind == syntax.KeyedElements {
		return s.Name
	}
	return ""
}

func samePath(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// loose puts a one-sided rule that goes through elements to those of the list's counterpart, wherever that is.
func (c *compiler) loose(r *relation, i item) {
	paths, ofField := i.field, true
	if paths == nil {
		paths, ofField = i.hub, false
	}
	n := firstIterating(paths)
	prefix, by := paths[0][:n], paths[0][n]
	moved := item{rule: i.rule}
	if ofField {
		moved.field = rest(i.field, n+1)
	} else {
		moved.hub = rest(i.hub, n+1)
	}
	for _, g := range r.groups {
		own, ownBy := g.field.path, g.fieldBy
		if !ofField {
			own, ownBy = g.hub.path, g.hubBy
		}
		if samePath(own, prefix) && isMap(ownBy) == isMap(by) {
			g.items = append(g.items, moved)
			return
		}
	}
	other, ok := counterpart(r, prefix, ofField)
	if !ok {
		return
	}
	field, hub := prefix, other
	if !ofField {
		field, hub = other, prefix
	}
	otherBy := syntax.Segment{Kind: syntax.Elements}
	if isMap(by) {
		otherBy.Kind = syntax.Values
	}
	fieldBy, hubBy := by, otherBy
	if !ofField {
		fieldBy, hubBy = otherBy, by
	}
	if g := c.groupOf(r, field, hub, fieldBy, hubBy); g != nil {
		g.items = append(g.items, moved)
	}
}

// counterpart returns what a place is on the other side by the plain pairs above it.
func counterpart(r *relation, path []syntax.Segment, ofField bool) ([]syntax.Segment, bool) {
	var best, other []syntax.Segment
	for _, t := range r.links {
		if !t.plain || len(t.field) != 1 || len(t.hub) != 1 {
			continue
		}
		own, its := t.field[0].path, t.hub[0].path
		if !ofField {
			own, its = its, own
		}
		if len(own) <= len(path) && samePath(own, path[:len(own)]) && len(own) >= len(best) {
			best, other = own, its
		}
	}
	there := slices.Concat(other, path[len(best):])
	for _, t := range r.links {
		ends := t.hub
		if !ofField {
			ends = t.field
		}
		for _, e := range ends {
			if n := len(e.path); n > len(other) && n <= len(there) && samePath(e.path, there[:n]) {
				return nil, false // it is another rule's
			}
		}
	}
	return there, true
}
