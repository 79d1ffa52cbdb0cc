package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
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
func (r *run) diff(x, g *jsondoc.Object, p *plan.Node, s binding.Place) []byte {
	var out partial
	r.simple = true
	if p != nil {
		out.add("metadata", r.diffMetadata(x, g, p.Kid("metadata")))
		r.diffParts(&out, x.Node, g.Node, p, s, true)
	}
	return out.text()
}

// diffMetadata compares labels and annotations: whether there are none or an empty object does not count.
func (r *run) diffMetadata(x, g *jsondoc.Object, p *plan.Node) []byte {
	var out partial
	for _, field := range [...]string{"labels", "annotations"} {
		at := p.Kid(field)
		if at == nil {
			continue
		}
		was, now := r.find(x.Node, plan.Names("metadata", field)), r.find(g.Node, plan.Names("metadata", field))
		var strs partial
		for _, e := range r.entries(was) {
			if !isOwn(e.name) {
				strs.add(e.name, r.diffValue(e.value, r.member(now, e.name), at.Kid(e.name), at.Src.Member(e.name)))
			}
		}
		for _, e := range r.entries(now) {
			if r.member(was, e.name) == nil && !isOwn(e.name) {
				strs.add(e.name, r.tombstone(e.value, at.Kid(e.name)))
			}
		}
		out.add(field, strs.text())
	}
	return out.text()
}

// diffValue compares the value of the source at a place with what the way back gives there, nil if nothing.
func (r *run) diffValue(v, w *jsondoc.Node, p *plan.Node, s binding.Place) []byte {
	switch {
	case p != nil && p.Dropped && p.Disposition == plan.Gone:
		return nil
	case v.SameText(w):
		return nil
	case w == nil && p != nil && p.Disposition == plan.Through && v.Kind() == jsondoc.Map:
		r.simple = false
		return r.diffMembers(v, nil, p, s)
	case w == nil:
		simple := r.simple && p != nil && p.Disposition == plan.Gone && !p.Computed && p.At.Name != "" && s.Admits(v.Text())
		text := r.whole(v, p, s)
		r.simple = simple
		return text
	case v.Kind() == jsondoc.Map && w.Kind() == jsondoc.Map && p.OpensObject():
		return r.diffMembers(v, w, p, s)
	case v.Kind() == jsondoc.Array && w.Kind() == jsondoc.Array && p.OpensList():
		return r.diffElements(v, w, p, s)
	case r.equal(v, w):
		return nil
	}
	return r.whole(v, p, s)
}

func (r *run) diffMembers(v, w *jsondoc.Node, p *plan.Node, s binding.Place) []byte {
	var out partial
	r.diffParts(&out, v, w, p, s, false)
	if w == nil && out.buf == nil {
		return []byte("{}") // its presence
	}
	if p.First != nil && w != nil && out.buf != nil {
		out.mark(exactly, r.telling(p.First, w))
	}
	return out.text()
}

// diffParts compares the members of two objects, where the program may have changed them.
func (r *run) diffParts(out *partial, v, w *jsondoc.Node, p *plan.Node, s binding.Place, root bool) {
	if p.Disposition == plan.Stays && p.Others == nil && p.Elem == nil && p.Sub == nil {
		for _, k := range p.Kids {
			name := k.At.Name
			was, now := r.member(v, name), r.member(w, name)
			switch {
			case root && isHead(name):
			case was != nil:
				out.add(name, r.diffValue(was, now, k, s.Member(name)))
			case now != nil:
				out.add(name, r.tombstone(now, k))
			}
		}
		return
	}
	for _, e := range r.entries(v) {
		if !root || !isHead(e.name) {
			out.add(e.name, r.diffValue(e.value, r.member(w, e.name), p.Part(e.name), s.Member(e.name)))
		}
	}
	for _, e := range r.entries(w) {
		if r.member(v, e.name) == nil && (!root || !isHead(e.name)) {
			out.add(e.name, r.tombstone(e.value, p.Part(e.name)))
		}
	}
}

// isHead is true of the members of an object that no rule is about, or only a part of them.
func isHead(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

func (r *run) diffElements(v, w *jsondoc.Node, p *plan.Node, s binding.Place) []byte {
	simple := r.simple
	text := r.elementsThatDiffer(v, w, p, s)
	r.simple = simple && text == nil
	return text
}

func (r *run) elementsThatDiffer(v, w *jsondoc.Node, p *plan.Node, s binding.Place) []byte {
	was, now := r.entries(v), r.entries(w)
	if len(was) != len(now) {
		return r.whole(v, p, s)
	}
	if p.Elem.Bind != "" && !r.sameKeys(was, now, p.Elem.Bind) {
		return r.whole(v, p, s)
	}
	names, byIndex := r.elementNames(was, now, p.Elem.Keys)
	var out partial
	for i := range was {
		text := r.diffValue(was[i].value, now[i].value, p.Elem.Program.Root, s.Items())
		out.add(names(i), text)
	}
	if byIndex && out.buf != nil {
		out.add(knownBy, r.knownAs(now, p.Elem.Program.Dst))
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
func (r *run) whole(v *jsondoc.Node, p *plan.Node, s binding.Place) []byte {
	r.simple = false
	text := v.Text()
	owned := p == nil || p.Disposition == plan.Taken || p.Disposition == plan.Gone || p.Shared()
	marks := r.tookBranch(p, v)
	if !s.Admits(v.Text()) {
		marks += `,"` + unchecked + `":true`
	}
	if marks != "" || v.Kind() == jsondoc.Null || v.Kind() == jsondoc.Map && (!owned || r.member(v, exactly) != nil) {
		return slices.Concat([]byte(`{"":`), text, []byte(marks), []byte("}"))
	}
	return text
}

// tombstone says that there was nothing where the way back gives w.
func (r *run) tombstone(w *jsondoc.Node, p *plan.Node) []byte {
	if p != nil && p.Dropped && p.Disposition == plan.Gone {
		return nil
	}
	r.simple = false
	if w.Kind() != jsondoc.Map || !p.OpensObject() || r.isEmpty(w) {
		return []byte("null")
	}
	out := partial{}
	out.mark(exactly, []byte("null"))
	for _, e := range r.entries(w) {
		out.add(e.name, r.tombstone(e.value, p.Part(e.name)))
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
