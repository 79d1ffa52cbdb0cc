package keep

import (
	"hash/fnv"
	"strconv"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A digest is the same for values that are equal as JSON once the API server has read them: the order of names, the
// spelling of strings and numbers, and nulls that the schema does not have do not count.
func digest(n *jsondoc.Node, s *crdschema.Node) uint64 {
	switch n.Kind() {
	case jsondoc.Map:
		sum := uint64(0) // whatever the order
		err := n.Each(func(name string, m *jsondoc.Node) bool {
			of := memberOf(s, name)
			if m.Kind() != jsondoc.Null || of == nil || of.Nullable() {
				sum += hash(name, digestText(m, of))
			}
			return true
		})
		if err == nil {
			return hash("{", digestString(sum))
		}
	case jsondoc.Array:
		h := fnv.New64a()
		_, _ = h.Write([]byte{'['})
		_ = n.Each(func(_ string, e *jsondoc.Node) bool {
			_, _ = h.Write([]byte(digestText(e, s.Items()) + " "))
			return true
		})
		return h.Sum64()
	case jsondoc.String:
		text, _ := n.Str()
		return hash(`"`, text)
	case jsondoc.Number:
		if text, err := jsondoc.CanonicalNumber(string(n.Text())); err == nil {
			return hash(text)
		}
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool:
	}
	return hash(string(n.Text())) // also of an object with a repeated name, which nobody looks into
}

// digestText returns a digest as annotations have it.
func digestText(n *jsondoc.Node, s *crdschema.Node) string { return digestString(digest(n, s)) }

func digestString(sum uint64) string { return strconv.FormatUint(sum, 36) }

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// same reports whether two values, or their absence, are equal as digest sees them.
func same(a, b *jsondoc.Node, s *crdschema.Node) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.SameText(b):
		return true
	}
	return a.Kind() == b.Kind() && digest(a, s) == digest(b, s)
}

// memberOf returns what a schema has for a member of an object: a property, or the values of a map.
func memberOf(s *crdschema.Node, name string) *crdschema.Node {
	if p := s.Property(name); p != nil {
		return p
	}
	return s.Values()
}
