package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A stash is a partial object. A value stands at its own path; null says that the place was absent, {"": value} is a value
// exactly, {"": value, "unchecked": true} one that the schema of its version does not have either, and {"": value, "as": path}
// one of a union, with the place that it had in the other version. Beside other members, "" is null where the object was absent,
// or says which object it was: see first.go. The elements of a list of the same length are "[k=v]" by key, "[{k: v, l: w}]" by
// several, or "[i]" by index, with digests of all of them as "[]": see known.go; any other list is a value as a whole. At the
// place of a rule, and where only the version has something, the value is always whole.

const (
	exactly   = "" // the name that marks an exact value
	unchecked = "unchecked"
	asBranch  = "as"
)

// diff returns the stash that makes x of g, or nil if they are the same. P is the place of the program that x went through:
// what it left alone, the way back has left alone.
//
// It sets simple if what it keeps is fields that the other version has no place for, and nothing else: they return to the objects
// that they were in, whatever these say.
func (r *run) diff(x, g *jsondoc.Object, p *place, s spot) []byte {
	var out partial
	r.simple = true
	if p != nil {
		out.add("metadata", r.diffMetadata(x, g, p.kid("metadata")))
		r.diffParts(&out, x.Node, g.Node, p, s, true)
	}
	return out.text()
}

// diffMetadata compares labels and annotations: whether there are none or an empty object does not count.
func (r *run) diffMetadata(x, g *jsondoc.Object, p *place) []byte {
	var out partial
	for _, field := range [...]string{"labels", "annotations"} {
		at := p.kid(field)
		if at == nil {
			continue
		}
		was, now := r.find(x.Node, names("metadata", field)), r.find(g.Node, names("metadata", field))
		var strs partial
		for _, e := range r.entries(was) {
			if !isOwn(e.name) {
				strs.add(e.name, r.diffValue(e.value, r.member(now, e.name), at.kid(e.name), at.src.member(e.name)))
			}
		}
		for _, e := range r.entries(now) {
			if r.member(was, e.name) == nil && !isOwn(e.name) {
				strs.add(e.name, r.tombstone(e.value, at.kid(e.name)))
			}
		}
		out.add(field, strs.text())
	}
	return out.text()
}

// diffValue compares the value of the source at a place with what the way back gives there, nil if nothing.
func (r *run) diffValue(v, w *jsondoc.Node, p *place, s spot) []byte {
	switch {
	case p != nil && p.dropped && p.fate == gone:
		return nil
	case v.SameText(w):
		return nil
	case w == nil && p != nil && p.fate == through && v.Kind() == jsondoc.Map:
		r.simple = false
		return r.diffMembers(v, nil, p, s)
	case w == nil:
		simple := r.simple && p != nil && p.fate == gone && !p.computed && p.at.name != "" && s.admits(v)
		text := r.whole(v, p, s)
		r.simple = simple
		return text
	case v.Kind() == jsondoc.Map && w.Kind() == jsondoc.Map && p.opensObject():
		return r.diffMembers(v, w, p, s)
	case v.Kind() == jsondoc.Array && w.Kind() == jsondoc.Array && p.opensList():
		return r.diffElements(v, w, p, s)
	case r.equal(v, w):
		return nil
	}
	return r.whole(v, p, s)
}

// opensObject reports whether the parts of an object are places of their own.
func (p *place) opensObject() bool {
	return p != nil && !p.shared() && (p.fate == through || p.fate == stays && p.src.mayBeObject() && (p.dst.mayBeObject() || p.elem != nil)) &&
		(p.elem == nil || p.elem.from == dict)
}

// shared is true of a place that moves to one place or another: what is in it has no counterpart that is known beforehand.
func (p *place) shared() bool { return p.move != nil && (p.move.doubtful || len(p.links) > 1) }

// opensList is opensObject for the elements of a list.
func (p *place) opensList() bool {
	return p != nil && !p.shared() && p.fate == stays && p.elem != nil && p.elem.from == list && len(p.picks) == 0 && !p.shifts
}

// part returns the place of a member of an object, or of the value of a map.
func (p *place) part(name string) *place {
	if p == nil {
		return nil
	}
	if p.elem != nil {
		return p.elem.p.root
	}
	if k := p.kid(name); k != nil || p.sub == nil {
		return k
	}
	return p.sub.root.kid(name)
}

func (r *run) diffMembers(v, w *jsondoc.Node, p *place, s spot) []byte {
	var out partial
	r.diffParts(&out, v, w, p, s, false)
	if w == nil && out.buf == nil {
		return []byte("{}") // its presence
	}
	if p.first != nil && w != nil && out.buf != nil {
		out.mark(exactly, r.telling(p.first, w))
	}
	return out.text()
}

// diffParts compares the members of two objects, where the program may have changed them.
func (r *run) diffParts(out *partial, v, w *jsondoc.Node, p *place, s spot, root bool) {
	if p.fate == stays && p.others == nil && p.elem == nil && p.sub == nil {
		for _, k := range p.kids {
			name := k.at.name
			was, now := r.member(v, name), r.member(w, name)
			switch {
			case root && isHead(name):
			case was != nil:
				out.add(name, r.diffValue(was, now, k, s.member(name)))
			case now != nil:
				out.add(name, r.tombstone(now, k))
			}
		}
		return
	}
	for _, e := range r.entries(v) {
		if !root || !isHead(e.name) {
			out.add(e.name, r.diffValue(e.value, r.member(w, e.name), p.part(e.name), s.member(e.name)))
		}
	}
	for _, e := range r.entries(w) {
		if r.member(v, e.name) == nil && (!root || !isHead(e.name)) {
			out.add(e.name, r.tombstone(e.value, p.part(e.name)))
		}
	}
}

// isHead is true of the members of an object that no rule is about, or only a part of them.
func isHead(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

func (r *run) diffElements(v, w *jsondoc.Node, p *place, s spot) []byte {
	simple := r.simple
	text := r.elementsThatDiffer(v, w, p, s)
	r.simple = simple && text == nil
	return text
}

func (r *run) elementsThatDiffer(v, w *jsondoc.Node, p *place, s spot) []byte {
	was, now := r.entries(v), r.entries(w)
	if len(was) != len(now) {
		return r.whole(v, p, s)
	}
	if p.elem.bind != "" && !r.sameKeys(was, now, p.elem.bind) {
		return r.whole(v, p, s)
	}
	names, byIndex := r.elementNames(was, now, p.elem.keys)
	var out partial
	for i := range was {
		text := r.diffValue(was[i].value, now[i].value, p.elem.p.root, s.items())
		out.add(names(i), text)
	}
	if byIndex && out.buf != nil {
		out.add(knownBy, r.knownAs(now, p.elem.p.dst))
	}
	return out.text()
}

// sameKeys reports whether the elements of two lists have the same keys in the same order.
func (r *run) sameKeys(was, now []entry, field string) bool {
	for i := range was {
		if !r.equal(r.member(was[i].value, field), r.member(now[i].value, field)) {
			return false
		}
	}
	return true
}

// elementNames returns how a stash names elements: by their keys, if those are different, or by their index.
func (r *run) elementNames(was, now []entry, fields []string) (names func(i int) string, byIndex bool) {
	fields = r.common(fields, was, now)
	keys := r.distinctKeys(was, fields)
	if keys == nil || !slices.Equal(keys, r.distinctKeys(now, fields)) {
		return func(i int) string { return fmt.Sprintf("[%d]", i) }, true
	}
	return func(i int) string { return "[" + keys[i] + "]" }, false
}

// whole returns the value as a stash has it.
func (r *run) whole(v *jsondoc.Node, p *place, s spot) []byte {
	r.simple = false
	text := v.Text()
	owned := p == nil || p.fate == taken || p.fate == gone || p.shared()
	marks := r.tookBranch(p, v)
	if !s.admits(v) {
		marks += `,"` + unchecked + `":true`
	}
	if marks != "" || v.Kind() == jsondoc.Null || v.Kind() == jsondoc.Map && (!owned || r.member(v, exactly) != nil) {
		return slices.Concat([]byte(`{"":`), text, []byte(marks), []byte("}"))
	}
	return text
}

// tombstone says that there was nothing where the way back gives w.
func (r *run) tombstone(w *jsondoc.Node, p *place) []byte {
	if p != nil && p.dropped && p.fate == gone {
		return nil
	}
	r.simple = false
	if w.Kind() != jsondoc.Map || !p.opensObject() || r.isEmpty(w) {
		return []byte("null")
	}
	out := partial{}
	out.mark(exactly, []byte("null"))
	for _, e := range r.entries(w) {
		out.add(e.name, r.tombstone(e.value, p.part(e.name)))
	}
	return out.text()
}

// stashName is how a stash writes the name of a member: the empty name marks exact values, so it, and a name of backslashes
// alone, gets one more of them.
func stashName(name string) string {
	if strings.Trim(name, `\`) == "" {
		return name + `\`
	}
	return name
}

// plainName is the inverse of stashName.
func plainName(name string) string {
	if name != "" && strings.Trim(name, `\`) == "" {
		return name[1:]
	}
	return name
}

// A partial is the text of an object, member by member; without any it is none.
type partial struct{ buf []byte }

// add adds what a stash has of a member.
func (p *partial) add(name string, text []byte) { p.mark(stashName(name), text) }

func (p *partial) mark(name string, text []byte) {
	if text == nil {
		return
	}
	if p.buf == nil {
		p.buf = append(make([]byte, 0, 64), '{')
	} else {
		p.buf = append(p.buf, ',')
	}
	p.buf = append(append(p.buf, jsondoc.StringValue(name).Text()...), ':')
	p.buf = append(p.buf, text...)
}

func (p *partial) text() []byte {
	if p.buf == nil {
		return nil
	}
	return append(p.buf, '}')
}
