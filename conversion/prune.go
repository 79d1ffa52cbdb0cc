package conversion

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// prune removes what the API server would remove from n, an object of the layout's version: fields
// that its schema does not have, and nulls that it does not allow. What was there in the object
// that was converted stays if it is null, or if neither schema has it: the CRD here may be older
// than the API server's. prune reports whether it removed something.
func (l *layout) prune(n, was *jsondoc.Object) (removed bool, err error) {
	p := &pruner{alike: l.alike}
	p.members(n.Node, was.Node, l.Schema, l.Other, true)
	return p.removed, p.err
}

type pruner struct {
	alike   map[*crdschema.Node]bool
	removed bool
	err     error
}

func (p *pruner) note(err error) { p.err = cmp.Or(p.err, err) }

func (p *pruner) members(n, was *jsondoc.Node, schema, other *crdschema.Node, root bool) {
	p.note(n.Filter(func(name []byte, m jsondoc.Member) bool {
		stays := p.stays(name, m, was, schema, other, root)
		p.removed = p.removed || !stays
		return stays
	}))
}

func (p *pruner) stays(name []byte, m jsondoc.Member, was *jsondoc.Node, schema, other *crdschema.Node, root bool) bool {
	if p.err != nil || root && isHead(name) {
		return true
	}
	here, there := memberOf(schema, name), memberOf(other, name)
	if here == nil {
		return schema.PreservesUnknown() || there == nil && !other.PreservesUnknown() && p.has(was, name)
	}
	kind := m.Value().Kind()
	if _, filled := here.Default(); kind == jsondoc.Null && !here.Nullable() && !filled {
		before, err := was.Member(string(name))
		p.note(err)
		return before != nil && before.Kind() == jsondoc.Null
	}
	if here.Prunes() && (kind == jsondoc.Map || kind == jsondoc.Array) {
		before, err := was.Member(string(name))
		p.note(err)
		p.value(m.Node(), before, here, there)
	}
	return true
}

func (p *pruner) has(n *jsondoc.Node, name []byte) bool {
	m, err := n.Member(string(name))
	p.note(err)
	return m != nil
}

func (p *pruner) value(n, was *jsondoc.Node, schema, other *crdschema.Node) {
	if p.alike[schema] && n.SameText(was) {
		return
	}
	if n.Kind() == jsondoc.Map {
		p.members(n, was, schema, other, false)
		return
	}
	elements, err := n.Elements()
	p.note(err)
	for i, e := range elements {
		before, err := was.Element(i)
		p.note(err)
		if schema.Items().Prunes() {
			p.value(e, before, schema.Items(), other.Items())
		}
	}
}

// pruneAlike adds to alike the places of a schema where it prunes what another one prunes: nothing
// is pruned from a value there which was that before. It reports whether the root is such a place.
func pruneAlike(schema, other *crdschema.Node, alike map[*crdschema.Node]bool) bool {
	if schema == nil || other == nil {
		return schema == other
	}
	_, filled := schema.Default()
	_, filledThere := other.Default()
	is := filled == filledThere && schema.Nullable() == other.Nullable() && schema.PreservesUnknown() == other.PreservesUnknown() &&
		slices.Equal(schema.Properties(), other.Properties())
	for _, name := range schema.Properties() {
		is = pruneAlike(schema.Property(name), other.Property(name), alike) && is
	}
	is = pruneAlike(schema.Values(), other.Values(), alike) && is
	is = pruneAlike(schema.Items(), other.Items(), alike) && is
	if is && schema.Prunes() {
		alike[schema] = true
	}
	return is
}

// isHead reports whether conversions must not change a member of an object, or only a part of it.
func isHead[T string | []byte](name T) bool {
	return string(name) == "apiVersion" || string(name) == "kind" || string(name) == "metadata"
}

// memberOf returns the schema of an object's member, or nil.
func memberOf(s *crdschema.Node, name []byte) *crdschema.Node {
	return cmp.Or(s.PropertyNamed(name), s.Values())
}
