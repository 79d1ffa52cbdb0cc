package exec

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A stash that does not bring the source back by its parts keeps it as a whole as well, under the name of exact values:
// {"spec": ..., "": {"spec": ...}}. The whole returns as long as nobody has edited anything; after an edit the parts count.

// proved returns the stash that is to be kept, and whether it brings the source back from an object in which the choice is
// restored. It is converted back to see that, as a request will later: nothing may be lost by what the parts cannot say, or say
// wrongly, for whatever reason. Without a choice, a whole always comes back: converting it gave what the object says.
func (v *conversion) proved(parts []byte, chosen []kept) (stash []byte, ok bool, err error) {
	if parts == nil || v.trusted || v.scratch.compare.simple && len(chosen) == 0 && len(parts) <= maxStash {
		return parts, true, nil
	}
	if ok, err = v.returns(parts, chosen); ok || err != nil {
		return parts, ok, err
	}
	whole, err := v.wholeOf()
	if err != nil || len(parts)+len(whole)+len(`,"":`) > maxStash {
		return parts, false, err // the parts have to do
	}
	stash = slices.Concat(bytes.TrimSuffix(parts, []byte("}")), []byte(`,"":`), whole, []byte("}"))
	ok, err = v.returns(stash, chosen)
	return stash, ok, err
}

// returns reports whether the source comes back with a stash.
func (v *conversion) returns(stash []byte, chosen []kept) (bool, error) {
	result, err := jsondoc.ParseObject(v.converted())
	if err != nil {
		return false, err
	}
	if err := v.take(result, chosen, stash); err != nil {
		return false, err
	}
	desk := v.pool.get()
	w := conversion{
		ctx: v.ctx, schemas: v.schemas, pool: v.pool, scratch: desk, group: v.group, from: v.to, to: v.from, there: v.back, back: v.there,
		trusted: true,
	}
	if w.obj, err = jsondoc.ParseObject(result.Text()); err != nil {
		return false, err
	}
	if err = w.convert(); err != nil {
		return false, v.ctx.Err()
	}
	x, err := jsondoc.ParseObject(v.source)
	if err != nil {
		return false, err
	}
	r := &v.scratch.compare
	same := r.diff(x, w.obj, v.there.Root, v.there.Src) == nil && r.err == nil
	if !same && v.defaulted {
		stored, err := v.asStored(w.obj.Text())
		same = stored != nil && err == nil && r.diff(x, stored, v.there.Root, v.there.Src) == nil && r.err == nil
	}
	v.pool.put(desk)
	return same, v.ctx.Err()
}

// wholeOf returns all of an object that a conversion may change.
func (v *conversion) wholeOf() ([]byte, error) {
	x, err := v.original()
	if err != nil {
		return nil, err
	}
	r := &v.scratch.compare
	metadata := partial{}
	for _, field := range []string{"labels", "annotations"} {
		var kept partial
		for _, e := range r.entries(r.find(x.Node, plan.Names("metadata", field))) {
			if !isOwn(e.name) {
				kept.mark(e.name, e.value.Text())
			}
		}
		metadata.mark(field, kept.text())
	}
	var whole partial
	whole.mark("metadata", metadata.text())
	for _, e := range r.entries(x.Node) {
		if !isHead(e.name) {
			whole.mark(e.name, e.value.Text())
		}
	}
	if whole.buf == nil {
		return []byte("{}"), r.err
	}
	return whole.text(), r.err
}

// entire puts back a whole that a stash has, and reports whether it still counts: converting it must give what the object says
// now.
func (v *conversion) entire(stash *jsondoc.Object) (bool, error) {
	r := &v.scratch.compare
	if stash == nil {
		return false, nil
	}
	r.reset(v.ctx, shown{})
	whole := r.member(stash.Node, exactly)
	if whole.Kind() != jsondoc.Map || r.err != nil {
		return false, nil //nolint:nilerr // a repeated name: no stash of ours
	}
	if ok, err := v.counts(whole); !ok || err != nil || r.err != nil {
		r.err = nil // of what is in the whole: anybody can write one
		return false, v.ctx.Err()
	}
	r.restoreWhole(v.obj, whole)
	return true, r.err
}

// counts reports whether converting the object with a whole put back gives what it says now.
func (v *conversion) counts(whole *jsondoc.Node) (bool, error) {
	r, now := &v.scratch.compare, v.obj.Text()
	candidate, err := jsondoc.ParseObject(now)
	if err != nil {
		return false, err
	}
	r.restoreWhole(candidate, whole)
	text := candidate.Text()
	trial, err := jsondoc.ParseObject(text)
	if err != nil {
		return false, err
	}
	if _, err := v.run(v.back, trial, v.to, shown{text: text}); err != nil {
		return false, err
	}
	is, err := jsondoc.ParseObject(now)
	if err != nil || r.saysTheSame(is.Node, trial.Node) {
		return err == nil, err
	}
	stored, err := v.asStored(trial.Text())
	return stored != nil && err == nil && r.saysTheSame(is.Node, stored.Node), err
}

// restoreWhole replaces all of an object that a conversion may change by what the whole has.
func (r *run) restoreWhole(obj *jsondoc.Object, whole *jsondoc.Node) {
	for _, e := range r.entries(obj.Node) {
		if !isHead(e.name) {
			r.note(obj.RemoveMember(e.name))
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		all := r.find(obj.Node, plan.Names("metadata", field))
		for _, e := range r.entries(all) {
			if !isOwn(e.name) {
				r.note(all.RemoveMember(e.name))
			}
		}
		for _, e := range r.entries(r.find(whole, plan.Names("metadata", field))) {
			if !isOwn(e.name) {
				r.note(obj.Set(e.value.Value(), "metadata", field, e.name))
			}
		}
		if all != nil && !all.Untouched() && r.isEmpty(all) {
			r.note(obj.Remove("metadata", field))
		}
	}
	for _, e := range r.entries(whole) {
		if !isHead(e.name) {
			r.note(obj.Set(e.value.Value(), e.name))
		}
	}
}

// saysTheSame compares all of two objects that a conversion may change.
func (r *run) saysTheSame(a, b *jsondoc.Node) bool {
	for _, field := range []string{"labels", "annotations"} {
		path := plan.Names("metadata", field)
		if !r.sameMembers(r.find(a, path), r.find(b, path), isOwn) {
			return false
		}
	}
	return r.sameMembers(a, b, isHead)
}

// sameMembers compares the members of two objects, but for those that do not count.
func (r *run) sameMembers(a, b *jsondoc.Node, leaveOut func(string) bool) bool {
	count := 0
	for _, e := range r.entries(a) {
		if leaveOut(e.name) {
			continue
		}
		if other := r.member(b, e.name); other == nil || !r.equal(e.value, other) {
			return false
		}
		count++
	}
	for _, e := range r.entries(b) {
		if !leaveOut(e.name) {
			count--
		}
	}
	return count == 0
}
