package keep

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// The inputs of a kept value are what the other version shows of the places that the value is
// computed from. Their digest has each place with its effective value, in no order: a place that is
// absent adds nothing. The schema's default, which the API server would fill in, adds 0, unless it
// is absent together with the object around it. So places that rules or schemas get later do not
// count while they show nothing.

// inputs returns the digest of the inputs of the value at a place, where the conversion back gives
// n.
func (w *walker) inputs(n *jsondoc.Node, c cursor, e *annotation.Entry) annotation.Digest {
	var all annotation.Digest
	switch inUnit := c.unit != nil && len(c.unit.other) > 0 && !c.computed; {
	case inUnit && c.unitAt == len(w.path):
		if w.addUnit(&all, c, nil); !c.unitPlace.Moved {
			w.addCounterpart(&all, c, e)
		}
	case inUnit: // below a place that is handed on
		w.addUnit(&all, c, c.unitPlace.Counterparts)
		w.addCounterpart(&all, c, e)
	case c.tracked:
		w.addCounterpart(&all, c, e)
	case n != nil && !isContainer(n) && !c.isFilled(n, true):
		all.Add(hash.Mix(effective(n, c.schema)))
	}
	if isContainer(n) && !c.isDefaultContainer(n) { // it may be of several places
		all.Add(hash.Mix(effective(n, c.schema)))
	}
	for _, p := range w.watched {
		w.addWatched(&all, p, c)
	}
	if e.Kind == annotation.KindAbsent && c.place != nil {
		w.addWatched(&all, watched{c.place.Watch, c.scope}, c)
	}
	if (e.Kind == annotation.KindAbsent || e.IsPresence()) && c.place != nil {
		w.addWatched(&all, watched{c.place.Holds, c.scope}, c)
	}
	return all
}

// listInputs is inputs for the elements of a list without keys that the conversion back does not
// give, although the other version may show something of them.
func (w *walker) listInputs(c cursor, length int) annotation.Digest {
	var all annotation.Digest
	if c.hasUnit() {
		w.addUnit(&all, c, nil)
	}
	if c.there.Kind() == jsondoc.Array && c.there.Len() != length {
		all.Add(hash.Mix(effective(c.there, c.other)))
	}
	return all
}

// addCounterpart adds what the other version has at the place.
func (w *walker) addCounterpart(all *annotation.Digest, c cursor, e *annotation.Entry) {
	filled := c.otherFills()
	if c.there == nil && !filled {
		return
	}
	switch at := append(slices.Clip(c.thereBy), w.path[c.thereAt:]...).Hash(); {
	case c.there == nil || filled && !e.IsPresence():
		all.AddDefault(c.thereIn, at)
	case e.IsPresence():
		all.Add(hash.Mix(at))
	default:
		all.Add(hash.Mix(at ^ hash.Mix(effective(c.there, c.other))))
	}
}

// addUnit adds the other version's places of a unit. Of some only their presence counts.
func (w *walker) addUnit(all *annotation.Digest, c cursor, presence []Counterpart) {
	for i := range c.unit.other {
		m := &c.unit.other[i]
		w.addMember(all, m, c.unitScope, m.PresenceOnly || slices.ContainsFunc(presence, func(p Counterpart) bool { return m.Path.Equal(p.Path) }))
	}
}

func (w *walker) addMember(all *annotation.Digest, m *Member, at scope, presence bool) {
	from := at.there
	if m.FromRoot {
		from = at.root
	}
	n, err := find(from, m.Path)
	w.note(err)
	_, filled := m.Schema.Default()
	switch {
	case filled && (n == nil || fills(m.Schema, n)):
		in, err := find(from, m.Path[:len(m.Path)-1])
		w.note(err)
		all.AddDefault(in, m.sum)
	case n == nil || m.tags && !hasTags(n):
	case m.Shape:
		sum, err := sumMembers(n, func([]byte, *jsondoc.Node) (uint64, bool) { return 0, true })
		w.note(err)
		all.Add(hash.Mix(m.sum ^ hash.Mix(sum)))
	case presence:
		all.Add(hash.Mix(m.sum))
	case m.tags:
		sum, err := digestMembers(n, annotation.IsOwn)
		w.note(err)
		all.Add(hash.Mix(m.sum ^ hash.Mix(sum)))
	default:
		all.Add(hash.Mix(m.sum ^ hash.Mix(effective(n, m.Schema))))
	}
}

// hasTags reports whether there is a label or an annotation that expressions see. They see neither
// webhookd's own nor an empty object.
func hasTags(n *jsondoc.Node) bool {
	has := false
	return n.Kind() == jsondoc.Map && n.Filter(func(name []byte, _ jsondoc.Member) bool {
		has = has || !annotation.IsOwn(name)
		return true
	}) == nil && has
}

// ofObject adds the object that inputs of status are of. A copy of the object under another name
// has none of its status.
func (c cursor) ofObject(s annotation.Digest) annotation.Digest {
	if !c.inStatus {
		return s
	}
	if uid, err := find(c.scope.root, annotation.Path{{Name: "metadata"}, {Name: "uid"}}); err == nil && uid.Kind() == jsondoc.String {
		s.Add(hash.Mix(hash.Of("uid") ^ digest(uid)))
	}
	return s
}

// A watched place is one of the path where nothing is, with the units that read whether something
// is there: a value that returned below it would change that.
type watched struct {
	by []*Unit
	scope
}

// addWatched adds the units, except that of the value, which is added already.
func (w *walker) addWatched(all *annotation.Digest, p watched, c cursor) {
	for _, unit := range p.by {
		if unit == c.unit && !c.computed && c.unitAt == len(w.path) {
			continue
		}
		for i := range unit.other {
			w.addMember(all, &unit.other[i], p.scope, unit.other[i].PresenceOnly)
		}
	}
}

// effective is the digest of a value without what its schema fills in.
func effective(n *jsondoc.Node, s *crdschema.Node) uint64 {
	switch {
	case s == nil || !isContainer(n):
		return digest(n)
	case n.Kind() == jsondoc.Array:
		return digestElements(n, func(e *jsondoc.Node) uint64 { return effective(e, s.Items()) })
	}
	sum, err := sumMembers(n, func(name []byte, m *jsondoc.Node) (uint64, bool) {
		if fills(s.PropertyNamed(name), m) {
			return 0, false
		}
		return effective(m, memberNamed(s, name)), true
	})
	if err != nil {
		return digest(n) // too many members
	}
	return sum
}

// Seal notes in the first of the entries what the object shows that they are put in, with the
// schema of its version. Values that were kept of both versions may contradict each other, which is
// no edit unless the object changes.
func Seal(entries []*annotation.Entry, obj *jsondoc.Object, schema *crdschema.Node) error {
	if len(entries) == 0 {
		return nil
	}
	var err error
	entries[0].Object, err = visibleOf(obj, schema)
	return err
}

// Unedited reports whether obj still shows what it did when Seal noted it in one of its entries.
func Unedited(kept []*annotation.Entry, obj *jsondoc.Object, schema *crdschema.Node) bool {
	return slices.ContainsFunc(kept, func(e *annotation.Entry) bool {
		if !e.Object.Any {
			return false
		}
		now, err := visibleOf(obj, schema)
		return err == nil && e.Object == now
	})
}

// visibleOf returns the digest of all that a conversion may change, without webhookd's own
// annotations.
func visibleOf(obj *jsondoc.Object, schema *crdschema.Node) (annotation.Digest, error) {
	var all annotation.Digest
	err := obj.Filter(func(name []byte, m jsondoc.Member) bool {
		if !isHead(name) && !fills(schema.PropertyNamed(name), m.Node()) {
			all.Add(hash.Mix(hash.Add(hash.Offset, name) ^ hash.Mix(effective(m.Node(), memberNamed(schema, name)))))
		}
		return true
	})
	if err != nil {
		return annotation.Digest{}, err
	}
	for _, field := range []string{"labels", "annotations"} {
		n, err := obj.Get("metadata", field)
		if err != nil {
			return annotation.Digest{}, err
		}
		tags, err := digestMembers(n, annotation.IsOwn[string])
		if err != nil {
			return annotation.Digest{}, err
		}
		all.Add(hash.Mix(hash.Of(field) ^ tags))
	}
	return all, nil
}

// digest is the same for values that the API server reads as equal: the order of names and the
// spelling of strings and numbers do not count.
func digest(n *jsondoc.Node) uint64 {
	switch n.Kind() {
	case jsondoc.Map:
		if sum, err := digestMembers(n, nil); err == nil {
			return sum
		}
	case jsondoc.Array:
		return digestElements(n, digest)
	case jsondoc.String:
		literal := n.Text()
		if literal = literal[1 : len(literal)-1]; bytes.IndexByte(literal, '\\') < 0 {
			return hash.Add(hash.Of(`"`), literal)
		}
		text, _ := n.Str()
		return hash.Of(`"`, text)
	case jsondoc.Number:
		literal := n.Text()
		if isCanonical(literal) {
			return hash.Add(hash.Offset, literal)
		}
		if text, err := jsondoc.CanonicalNumber(string(literal)); err == nil {
			return hash.Of(text)
		}
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool:
	}
	return hash.Add(hash.Offset, n.Text()) // also of an object with too many members
}

// digestElements is the digest of a list.
func digestElements(n *jsondoc.Node, digest func(*jsondoc.Node) uint64) uint64 {
	sum := hash.Add(hash.Offset, []byte{'['})
	_ = n.Filter(func(_ []byte, m jsondoc.Member) bool {
		sum = hash.Mix(hash.End(sum) ^ digest(m.Node()))
		return true
	})
	return sum
}

// digestMembers is the digest of an object without some members.
func digestMembers(n *jsondoc.Node, leaveOut func(string) bool) (uint64, error) {
	return sumMembers(n, func(name []byte, m *jsondoc.Node) (uint64, bool) {
		if leaveOut != nil && leaveOut(string(name)) {
			return 0, false
		}
		return digest(m), true
	})
}

// sumMembers is the digest of an object, of digests of its members.
func sumMembers(n *jsondoc.Node, digest func(name []byte, m *jsondoc.Node) (sum uint64, counts bool)) (uint64, error) {
	sum := uint64(0)
	err := n.Filter(func(name []byte, m jsondoc.Member) bool {
		if s, counts := digest(name, m.Node()); counts {
			sum += hash.Mix(hash.Add(hash.Offset, name) ^ hash.Mix(s))
		}
		return true
	})
	return hash.Mix(hash.Add(hash.Offset, []byte{'{'}) ^ sum), err
}

// isCanonical reports whether a number is spelt as CanonicalNumber spells it, as nearly all are.
func isCanonical(number []byte) bool {
	const sure = 18 // digits of an int64
	for _, c := range number {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(number) <= sure && (number[0] != '0' || len(number) == 1)
}

// same reports whether two values are equal as JSON, or both nil. The order of names and the
// spelling of strings do not count; that of numbers does.
func same(a, b *jsondoc.Node) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.SameText(b):
		return true
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == jsondoc.String:
		s, _ := a.Str()
		t, _ := b.Str()
		return s == t
	case a.Kind() == jsondoc.Map || a.Kind() == jsondoc.Array:
		equal := a.Len() == b.Len()
		err := jsondoc.Pairs(a, b, false, func(_ []byte, a, b *jsondoc.Node) bool {
			equal = equal && same(a, b)
			return equal
		})
		return equal && err == nil
	}
	return false
}

// memberOf returns a schema's node for a member of an object: a property, or the values of a map.
func memberOf(s *crdschema.Node, name string) *crdschema.Node {
	if p := s.Property(name); p != nil {
		return p
	}
	return s.Values()
}

// memberNamed is memberOf without a copy of the name.
func memberNamed(s *crdschema.Node, name []byte) *crdschema.Node {
	if p := s.PropertyNamed(name); p != nil {
		return p
	}
	return s.Values()
}

// digestText returns a digest as annotations have it.
func digestText(n *jsondoc.Node) string { return hash.Text(digest(n)) }
