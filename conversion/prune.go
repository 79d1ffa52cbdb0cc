package conversion

import (
	"cmp"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// prune removes what the API server would remove from n: fields that its schema does not have, and
// nulls that it does not allow. What was there in the object that was converted stays if it is
// null, or if neither schema has it: the CRD here may be older than the API server's. prune reports
// whether it removed something.
func prune(n, was *jsondoc.Object, schema, other *crdschema.Node) (removed bool, err error) {
	p := &pruner{}
	p.members(n.Node, was.Node, schema, other, true)
	return p.removed, p.err
}

type pruner struct {
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

// isHead reports whether conversions must not change a member of an object, or only a part of it.
func isHead[T string | []byte](name T) bool {
	return string(name) == "apiVersion" || string(name) == "kind" || string(name) == "metadata"
}

// memberOf returns the schema of an object's member, or nil.
func memberOf(s *crdschema.Node, name []byte) *crdschema.Node {
	return cmp.Or(s.PropertyNamed(name), s.Values())
}
