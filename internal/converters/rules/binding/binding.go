// Package binding binds the rules of a Conversion to the schemas of both versions: which places a rule is about, what the schemas
// have there, and which lists have elements that go through rules together. Programs are made from it (package plan).
package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// An applied is a rule as it applies below some place: what is left of its paths from there on.
type applied struct {
	rule       *syntax.Rule
	field, hub [][]syntax.Segment
}

// A Binding is how a place of a version and one of the hub relate: the two objects as a whole, an element of a list and
// its counterpart, the places of a rule set. Programs for both directions are made from it. It is recursive where rule sets
// are.
type Binding struct {
	Field, Hub Place
	Rules      []*Rule
	Elements   []*Elements
	// The key field of the side whose values are elements of a list, where those of the other are in a map.
	FieldKey, HubKey string
	// Units are the places that belong together. Places of no unit are units of their own.
	Units []*Unit
}

// A Rule is a rule of a binding that goes through no elements.
type Rule struct {
	Syntax     *syntax.Rule
	Field, Hub []Path
	Transform  transform.Transform // nil of one-sided rules that compute nothing
	When       [2]*transform.Guard // for the conversion to the hub, and from it
	Below      *Binding            // of `use`
	Plain      bool                // it hands its value on
}

// An Path is a path of a rule and what the schema has there.
type Path struct {
	Segments []syntax.Segment
	Place    Place
	Base     Place // what the path starts at
}

// A Elements are all rules that go through the elements of the same two lists or maps.
type Elements struct {
	Field, Hub               Path
	FieldBy, HubBy           syntax.Segment // the segments that go through them
	Binding                  *Binding
	items                    []applied
	FieldElement, HubElement Place
	FieldKey, HubKey         string // of lists, the name of the field that elements are known by, or empty
}

// A Binder makes the bindings of one version and the hub.
type Binder struct {
	conversion *syntax.Conversion
	env        *transform.Env
	fieldRoot  *crdschema.Node
	hubRoot    *crdschema.Node
	bindings   map[string]*Binding
	findings   []finding.Finding
}

// New returns a binder of rules between two versions.
func New(c *syntax.Conversion, field, hub *crdschema.Node, env *transform.Env) *Binder {
	return &Binder{conversion: c, env: env, fieldRoot: field, hubRoot: hub, bindings: make(map[string]*Binding)}
}

// Findings returns what is wrong with the rules bound so far.
func (b *Binder) Findings() []finding.Finding { return b.findings }

// Root binds the rules of whole objects.
func (b *Binder) Root(rules []*syntax.Rule) *Binding {
	root := b.relate(appliedOf(rules), Place{b.fieldRoot, true}, Place{b.hubRoot, true}, "", "")
	b.unite(root)
	return root
}

// IsRoot reports whether a binding is that of whole objects.
func (b *Binder) IsRoot(r *Binding) bool { return r.Field.Node == b.fieldRoot && r.Field.Known }

// Implicit returns the binding of two places that no rule is about.
func (b *Binder) Implicit(field, hub Place) *Binding { return b.relate(nil, field, hub, "", "") }

func appliedOf(rules []*syntax.Rule) []applied {
	var items []applied
	for _, r := range rules {
		if !r.Broken {
			items = append(items, applied{r, pathsOf(r.Field), pathsOf(r.Hub)})
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

// relate returns the binding of two places under some rules, which it makes only once: recursion ends there.
func (b *Binder) relate(items []applied, field, hub Place, fieldKey, hubKey string) *Binding {
	items = b.spliced(items)
	var key strings.Builder
	fmt.Fprintf(&key, "%p %t %p %t %q %q", field.Node, field.Known, hub.Node, hub.Known, fieldKey, hubKey)
	for _, i := range items {
		fmt.Fprintf(&key, " %p", i.rule)
		for _, side := range [][][]syntax.Segment{i.field, i.hub} {
			for _, path := range side {
				fmt.Fprintf(&key, ",%d", len(path))
			}
			key.WriteByte('/')
		}
	}
	if r := b.bindings[key.String()]; r != nil {
		return r
	}
	r := &Binding{Field: field, Hub: hub, FieldKey: fieldKey, HubKey: hubKey}
	b.bindings[key.String()] = r
	var loose []applied
	for _, i := range items {
		switch {
		case !iterates(i):
			if t := b.rule(i, field, hub); t != nil {
				r.Rules = append(r.Rules, t)
			}
		case i.field == nil || i.hub == nil:
			loose = append(loose, i)
		default:
			b.elements(r, i)
		}
	}
	for _, i := range loose {
		b.loose(r, i)
	}
	for _, g := range r.Elements {
		fieldBind, hubBind := "", ""
		switch {
		case IsMap(g.FieldBy) && !IsMap(g.HubBy):
			hubBind = g.HubBy.Name
		case IsMap(g.HubBy) && !IsMap(g.FieldBy):
			fieldBind = g.FieldBy.Name
		}
		g.Binding = b.relate(g.items, g.FieldElement, g.HubElement, fieldBind, hubBind)
	}
	return r
}

// spliced replaces each `use` between the two places themselves by the rules of the set.
func (b *Binder) spliced(items []applied) []applied {
	for range 32 {
		i := slices.IndexFunc(items, func(i applied) bool {
			return i.rule.Use != nil && len(i.field) == 1 && len(i.field[0]) == 0 && len(i.hub) == 1 && len(i.hub[0]) == 0
		})
		if i < 0 {
			break
		}
		set := b.conversion.RuleSet(items[i].rule.Use.Value)
		var more []applied
		if set != nil {
			more = appliedOf(set.Rules)
		}
		items = slices.Concat(items[:i:i], more, items[i+1:])
	}
	return items
}

func iterates(i applied) bool { return firstIterating(i.field) >= 0 || firstIterating(i.hub) >= 0 }

// firstIterating returns where the first segment is that goes through elements, or -1. All paths of a side share it.
func firstIterating(paths [][]syntax.Segment) int {
	if len(paths) == 0 {
		return -1
	}
	return slices.IndexFunc(paths[0], syntax.Segment.Iterates)
}

// rule binds a rule, or returns nil where a side of it does not exist: at the end of a recursive type, or in a file with
// findings.
func (b *Binder) rule(i applied, field, hub Place) *Rule {
	t := &Rule{Syntax: i.rule}
	var ok bool
	if t.Field, ok = pathsBelow(i.field, field); !ok {
		return nil
	}
	if t.Hub, ok = pathsBelow(i.hub, hub); !ok {
		return nil
	}
	r := i.rule
	if r.Drop != nil {
		return t
	}
	two := r.Field != nil && r.Hub != nil
	if set := r.Use; set != nil && two {
		s := b.conversion.RuleSet(set.Value)
		if s == nil {
			return nil
		}
		t.Plain, t.Below = true, b.relate(appliedOf(s.Rules), t.Field[0].Place, t.Hub[0].Place, "", "")
	}
	computes := r.Values != nil || r.HubValues != nil || r.Template != nil || r.Codec != nil || r.ToHub != nil ||
		r.FromHub != nil || r.Go != nil
	if two && !computes && len(t.Field) == 1 && len(t.Hub) == 1 {
		t.Plain = true
	}
	if two && !t.Plain || computes {
		var found []finding.Finding
		t.Transform, found = transform.Compile(b.env, r, nodesOf(t.Field), nodesOf(t.Hub), b.fieldRoot, b.hubRoot)
		b.findings = append(b.findings, found...)
	}
	t.When = [2]*transform.Guard{b.guard(r, false, t.Field, b.fieldRoot), b.guard(r, true, t.Hub, b.hubRoot)}
	return t
}

func (b *Binder) guard(r *syntax.Rule, backward bool, ends []Path, root *crdschema.Node) *transform.Guard {
	g, found := transform.CompileGuard(b.env, r, backward, nodesOf(ends), root)
	b.findings = append(b.findings, found...)
	return g
}

func pathsBelow(paths [][]syntax.Segment, base Place) ([]Path, bool) {
	var all []Path
	for _, path := range paths {
		s, ok := base.At(path)
		if !ok {
			return nil, false
		}
		all = append(all, Path{path, s, base})
	}
	return all, true
}

func nodesOf(ends []Path) []*crdschema.Node {
	nodes := make([]*crdschema.Node, 0, len(ends))
	for _, e := range ends {
		nodes = append(nodes, e.Place.Node)
	}
	return nodes
}

// elements puts a rule that goes through elements on both sides with the others of its lists.
func (b *Binder) elements(r *Binding, i applied) {
	f, h := firstIterating(i.field), firstIterating(i.hub)
	if f < 0 || h < 0 {
		return
	}
	g := b.elementsOf(r, i.field[0][:f], i.hub[0][:h], i.field[0][f], i.hub[0][h])
	if g == nil {
		return
	}
	g.items = append(g.items, applied{i.rule, rest(i.field, f+1), rest(i.hub, h+1)})
}

func rest(paths [][]syntax.Segment, from int) [][]syntax.Segment {
	all := make([][]syntax.Segment, 0, len(paths))
	for _, path := range paths {
		all = append(all, path[from:])
	}
	return all
}

// elementsOf finds or makes the Elements of two lists or maps. A list has one counterpart: a second one is refused, and its rules
// do nothing.
func (b *Binder) elementsOf(r *Binding, field, hub []syntax.Segment, fieldBy, hubBy syntax.Segment) *Elements {
	for _, g := range r.Elements {
		sameField, sameHub := samePath(g.Field.Segments, field), samePath(g.Hub.Segments, hub)
		switch {
		case sameField && sameHub && IsMap(g.FieldBy) == IsMap(fieldBy) && IsMap(g.HubBy) == IsMap(hubBy):
			if g.FieldKey == "" {
				g.FieldKey = keyOf(fieldBy)
			}
			if g.HubKey == "" {
				g.HubKey = keyOf(hubBy)
			}
			return g
		case sameField || sameHub:
			return nil
		}
	}
	f, okField := r.Field.At(field)
	h, okHub := r.Hub.At(hub)
	if !okField || !okHub {
		return nil
	}
	g := &Elements{
		Field: Path{field, f, r.Field}, Hub: Path{hub, h, r.Hub}, FieldBy: fieldBy, HubBy: hubBy,
		FieldKey: keyOf(fieldBy), HubKey: keyOf(hubBy), FieldElement: elementOf(f, fieldBy), HubElement: elementOf(h, hubBy),
	}
	if !g.FieldElement.Known || !g.HubElement.Known {
		return nil
	}
	r.Elements = append(r.Elements, g)
	return g
}

func elementOf(s Place, by syntax.Segment) Place {
	if IsMap(by) {
		return s.Others()
	}
	return s.Items()
}

// IsMap reports whether a segment goes through the values of a map.
func IsMap(s syntax.Segment) bool { return s.Kind == syntax.Values || s.Kind == syntax.KeyedValues }

func keyOf(s syntax.Segment) string {
	if s.Kind == syntax.KeyedElements {
		return s.Name
	}
	return ""
}

func samePath(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// loose puts a one-sided rule that goes through elements to those of the list's counterpart, wherever that is.
func (b *Binder) loose(r *Binding, i applied) {
	paths, ofField := i.field, true
	if paths == nil {
		paths, ofField = i.hub, false
	}
	n := firstIterating(paths)
	prefix, by := paths[0][:n], paths[0][n]
	moved := applied{rule: i.rule}
	if ofField {
		moved.field = rest(i.field, n+1)
	} else {
		moved.hub = rest(i.hub, n+1)
	}
	for _, g := range r.Elements {
		own, ownBy := g.Field.Segments, g.FieldBy
		if !ofField {
			own, ownBy = g.Hub.Segments, g.HubBy
		}
		if samePath(own, prefix) && IsMap(ownBy) == IsMap(by) {
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
	if IsMap(by) {
		otherBy.Kind = syntax.Values
	}
	fieldBy, hubBy := by, otherBy
	if !ofField {
		fieldBy, hubBy = otherBy, by
	}
	if g := b.elementsOf(r, field, hub, fieldBy, hubBy); g != nil {
		g.items = append(g.items, moved)
	}
}

// counterpart returns what a place is on the other side by the plain pairs above it.
func counterpart(r *Binding, path []syntax.Segment, ofField bool) ([]syntax.Segment, bool) {
	var best, other []syntax.Segment
	for _, t := range r.Rules {
		if !t.Plain || len(t.Field) != 1 || len(t.Hub) != 1 {
			continue
		}
		own, its := t.Field[0].Segments, t.Hub[0].Segments
		if !ofField {
			own, its = its, own
		}
		if len(own) <= len(path) && samePath(own, path[:len(own)]) && len(own) >= len(best) {
			best, other = own, its
		}
	}
	there := slices.Concat(other, path[len(best):])
	for _, t := range r.Rules {
		ends := t.Hub
		if !ofField {
			ends = t.Field
		}
		for _, e := range ends {
			if n := len(e.Segments); n > len(other) && n <= len(there) && samePath(e.Segments, there[:n]) {
				return nil, false // it is another rule's
			}
		}
	}
	return there, true
}
