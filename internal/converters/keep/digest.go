package keep

import (
	"hash/fnv"
	"strconv"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A digest is the same for values that are equal as JSON once the API server has read them: the order of names and the spelling
// of strings and numbers do not count.
func digest(n *jsondoc.Node) uint64 {
	switch n.Kind() {
	case jsondoc.Map:
		sum := uint64(0) // whatever the order
		err := n.Each(func(name string, m *jsondoc.Node) bool {
			sum += hash(name, digestText(m))
			return true
		})
		if err == nil {
			return hash("{", digestString(sum))
		}
	case jsondoc.Array:
		h := fnv.New64a()
		_, _ = h.Write([]byte{'['})
		_ = n.Each(func(_ string, e *jsondoc.Node) bool {
			_, _ = h.Write([]byte(digestText(e) + " "))
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
func digestText(n *jsondoc.Node) string { return digestString(digest(n)) }

func digestString(sum uint64) string { return strconv.FormatUint(sum, 36) }

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// same reports whether two values, or their absence, are equal as JSON: the order of names and the spelling of strings do not
// count, that of numbers does.
func same(a, b *jsondoc.Node) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.SameText(b):
		return true
	case a.Kind() != b.Kind():
		return false
	}
	switch a.Kind() {
	case jsondoc.String:
		s, _ := a.Str()
		t, _ := b.Str()
		return s == t
	case jsondoc.Map, jsondoc.Array:
		was, err := membersOf(a)
		now, errNow := membersOf(b)
		return err == nil && errNow == nil && sameMembers(was, now, a.Kind() == jsondoc.Map)
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number:
	}
	return false
}

func sameMembers(was, now []member, named bool) bool {
	if len(was) != len(now) {
		return false
	}
	find := lookup(now)
	for i := range was {
		other := now[i].value
		if named && now[i].name != was[i].name {
			other = find(was[i].name)
		}
		if !same(was[i].value, other) {
			return false
		}
	}
	return true
}

// memberOf returns what a schema has for a member of an object: a property, or the values of a map.
func memberOf(s *crdschema.Node, name string) *crdschema.Node {
	if p := s.Property(name); p != nil {
		return p
	}
	return s.Values()
}

// memberNamed is memberOf for a name that is no string yet.
func memberNamed(s *crdschema.Node, name []byte) *crdschema.Node {
	if p := s.PropertyNamed(name); p != nil {
		return p
	}
	return s.Values()
}
