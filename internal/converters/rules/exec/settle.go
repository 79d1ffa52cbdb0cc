package exec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

const (
	// maxStash bounds a stash in bytes: all annotations of an object together may have 256 KiB
	// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
	maxStash = 128 << 10
	// maxRounds bounds how often a choice of restored values is tried, before only those are left that nothing speaks against.
	maxRounds = 16
)

// settle restores what counts of the stash, and keeps what the way back does not give.
//
// The choice starts with all entries. With the choice made so far, converting back has to give what the source says at the
// places that an entry is tied to; else the entry is merged with the edit that there must have been, and left out if that does
// not help. One is left out, too, when a value that has to be kept would not be restored with it: it is tied to what that value
// was computed without. So the two directions agree about what a stash says.
func (v *conversion) settle(stash *jsondoc.Object) error {
	r := &v.scratch.compare
	r.reset(v.ctx, shown{text: v.source, group: v.group, version: v.from})
	x, err := v.original()
	if err != nil {
		return err
	}
	var chosen []kept
	if stash != nil {
		chosen = r.entriesOf(stash.Node, v.obj.Node, v.back)
		chosen = slices.DeleteFunc(chosen, func(k kept) bool { return r.switched(&k, x.Node) })
		if r.err != nil {
			r.err, chosen = nil, nil // a repeated name: no stash of ours
		}
	}
	for round := 0; ; round++ {
		switch {
		case round == maxRounds:
			chosen = slices.DeleteFunc(chosen, func(k kept) bool { return len(k.links) > 0 })
		case round > maxRounds:
			chosen = nil
		}
		t, err := v.try(r, x, &chosen)
		if err != nil && len(chosen) > 0 && v.ctx.Err() == nil {
			r.err, chosen = nil, nil // a repeated name in what was kept: anybody can write a stash
			continue
		}
		if err != nil {
			return err
		}
		if t.again {
			continue
		}
		text, proved, err := v.proved(t.partial, chosen)
		if err != nil {
			return err
		}
		if proved || len(chosen) == 0 {
			return v.take(v.obj, chosen, text)
		}
		round = max(round, maxRounds-1)
	}
}

// take restores the choice in an object, and keeps what has to be kept.
func (v *conversion) take(obj *jsondoc.Object, chosen []kept, stash []byte) error {
	r := &v.scratch.compare
	for i := range chosen {
		r.restore(obj.Node, &chosen[i])
	}
	if stash == nil || r.err != nil {
		return r.err
	}
	if len(stash) > maxStash {
		return v.tooBig(stash)
	}
	return obj.Set(jsondoc.StringValue(string(stash)), "metadata", "annotations", converters.StashAnnotation(v.from))
}

// A trial is what a choice of entries comes to.
type trial struct {
	partial []byte // what has to be kept
	again   bool   // the choice has changed
}

func (v *conversion) try(r *run, x *jsondoc.Object, chosen *[]kept) (trial, error) {
	there, err := v.restored(r, chosen)
	if err != nil {
		return trial{}, err
	}
	back, err := v.wayBack(there)
	if err != nil {
		return trial{}, err
	}
	before := len(*chosen)
	disagree := r.disagreeing(*chosen, back.Node, x.Node)
	if disagree != nil {
		if disagree, err = v.agreeAsStored(r, *chosen, disagree, back, x); err != nil {
			return trial{}, err
		}
	}
	if disagree != nil {
		if disagree, err = v.agreeWithout(r, *chosen, disagree, back); err != nil {
			return trial{}, err
		}
	}
	if disagree != nil {
		err := v.merge(r, back, chosen, disagree)
		return trial{again: true}, errors.Join(err, r.err)
	}
	t := trial{partial: r.diff(x, back, v.there.Root, v.there.Src)}
	if len(t.partial) > maxStash {
		r.terse = true
		t.partial = r.diff(x, back, v.there.Root, v.there.Src)
	}
	if before > 0 && t.partial != nil {
		if err := v.restorable(r, &t, there, back, x, chosen); err != nil {
			return t, err
		}
		t.again = len(*chosen) < before
	}
	return t, r.err
}

// disagreeing returns which entries of a choice converting back speaks against.
func (r *run) disagreeing(chosen []kept, back, x *jsondoc.Node) []bool {
	var disagree []bool
	for i := range chosen {
		if !r.agrees(&chosen[i], back, x) {
			if disagree == nil {
				disagree = make([]bool, len(chosen))
			}
			disagree[i] = true
		}
	}
	return disagree
}

// agreeWithout looks at the merged entries that converting back speaks against: where it gives the same without any of them, it
// is the conversion itself that does not give what the source says, and what it does give is in the entry. It returns those
// that still disagree, or nil.
func (v *conversion) agreeWithout(r *run, chosen []kept, disagree []bool, back *jsondoc.Object) ([]bool, error) {
	if !slices.ContainsFunc(chosen, func(k kept) bool { return k.merged }) {
		return disagree, nil
	}
	without, err := v.wayBack(nil)
	if err != nil {
		return disagree, err
	}
	still := r.disagreeing(chosen, back.Node, without.Node)
	left := false
	for i := range disagree {
		disagree[i] = disagree[i] && (!chosen[i].merged || i < len(still) && still[i])
		left = left || disagree[i]
	}
	if !left {
		return nil, r.err
	}
	return disagree, r.err
}

// thereAgain converts what the way back gave.
func (v *conversion) thereAgain(back *jsondoc.Object) (*jsondoc.Object, error) {
	text := back.Text()
	there, err := v.scratch.open(text)
	if err != nil {
		return nil, err
	}
	_, err = v.run(v.there, there, v.from, shown{text: text})
	return there, err
}

// merge applies to the entries that disagree the edit since they were kept, and leaves those out for which that is nothing new.
// Back is what the object was when they were kept, as far as they say that.
func (v *conversion) merge(r *run, back *jsondoc.Object, chosen *[]kept, disagree []bool) error {
	base, err := v.thereAgain(back)
	if err != nil {
		return err
	}
	now, err := v.scratch.open(v.converted())
	if err != nil {
		return err
	}
	m := merger{r}
	left := (*chosen)[:0]
	for i, k := range *chosen {
		if !disagree[i] || m.merge(&k, base.Node, now.Node) {
			left = append(left, k)
		}
	}
	clear((*chosen)[len(left):])
	*chosen = left
	return nil
}

// restored returns F(x) with the choice in it, as far as that has a place there, or nil if nothing is chosen.
func (v *conversion) restored(r *run, chosen *[]kept) (*jsondoc.Object, error) {
	if len(*chosen) == 0 {
		return nil, nil //nolint:nilnil // as said
	}
	there, err := v.scratch.open(v.converted())
	if err == nil {
		*chosen = slices.DeleteFunc(*chosen, func(k kept) bool { return !r.restore(there.Node, &k) })
	}
	return there, err
}

// wayBack converts back what was made, or if that is nil F(x), of which a copy is as good as its text (BenchmarkConvert).
func (v *conversion) wayBack(made *jsondoc.Object) (*jsondoc.Object, error) {
	var back *jsondoc.Object
	is := shown{as: v}
	if made == nil {
		back = v.obj.Copy()
	} else {
		is.text = made.Text()
	}
	if back == nil {
		if is.text == nil {
			is.text = v.converted()
		}
		var err error
		if back, err = v.scratch.open(is.text); err != nil {
			return nil, err
		}
	}
	_, err := v.run(v.back, back, v.to, is)
	return back, err
}

// restorable leaves out the entries that would keep a value in the new stash from being restored. They do not where the
// conversion itself does not give what they say, whatever is restored: see agreeWithout.
func (v *conversion) restorable(r *run, t *trial, there, back, x *jsondoc.Object, chosen *[]kept) error {
	stash, err := jsondoc.ParseObject(t.partial)
	if err != nil {
		return err
	}
	computed, err := jsondoc.ParseObject(v.converted())
	if err != nil {
		return err
	}
	var again *jsondoc.Object
	for _, k := range r.entriesOf(stash.Node, x.Node, v.there) {
		for _, l := range k.links {
			if r.stopped() || r.ties(l, there.Node, computed.Node) {
				continue
			}
			if again == nil {
				if again, err = v.thereAgain(back); err != nil {
					return err
				}
			}
			if r.ties(l, again.Node, computed.Node) {
				continue
			}
			*chosen = slices.DeleteFunc(*chosen, func(c kept) bool { return plan.Overlap(c.path, l.path) })
		}
	}
	return nil
}

// agrees reports whether all places that an entry is tied to say the same in two objects.
func (r *run) agrees(k *kept, a, b *jsondoc.Node) bool {
	for _, l := range k.links {
		if !r.stopped() && !r.ties(l, a, b) {
			return false
		}
	}
	return true
}

// lookEvery is how often the deadline is looked at among the entries of a stash, which may be very many.
const lookEvery = 64

// stopped reports whether the time is up, and notes it as the error.
func (r *run) stopped() bool {
	if r.looks++; r.looks%lookEvery == 0 {
		r.note(r.call.Context.Err())
	}
	return r.err != nil
}

func (r *run) ties(l tiedTo, a, b *jsondoc.Node) bool {
	v, w := r.find(a, l.path), r.find(b, l.path)
	if l.shape {
		return v.Kind() == w.Kind()
	}
	return r.equal(v, w)
}

// restore puts an entry of a stash into an object, and reports whether it has a place there.
func (r *run) restore(n *jsondoc.Node, k *kept) bool {
	if r.stopped() {
		return true
	}
	last := len(k.path) - 1
	for i := range k.path[:last] {
		s := &k.path[i]
		m := r.part(n, s)
		if m == nil || m.Kind() == jsondoc.Null && k.must == 0 {
			if i < k.must || s.Kind != plan.ByName || n.Kind() != jsondoc.Map || k.value == nil {
				return k.value == nil && i >= k.must
			}
			if m != nil {
				r.note(replace(m, "{}"))
			} else {
				empty, err := jsondoc.RawValue([]byte("{}"))
				r.note(err)
				r.note(n.SetMember(s.Name, empty))
				m = r.member(n, s.Name)
			}
		}
		n = m
	}
	s := &k.path[last]
	m := r.part(n, s)
	switch {
	case s.Kind != plan.ByName:
		if m == nil || k.value == nil || k.shape {
			return k.shape && k.value != nil && m.Kind() == jsondoc.Map
		}
		m.Replace(k.value.Value())
		return true
	case n.Kind() != jsondoc.Map:
		return false
	case k.value == nil:
		if k.shape && m != nil && !r.isEmpty(m) {
			return false
		}
		r.note(n.RemoveMember(s.Name))
		return true
	case k.shape && m != nil:
		return m.Kind() == jsondoc.Map
	case k.free && m != nil:
		return false
	}
	r.note(n.SetMember(s.Name, k.value.Value()))
	return true
}

// tooBig is the error for a stash that annotations have no room for: it names the paths that take the most of it.
func (v *conversion) tooBig(partial []byte) error {
	stash, err := jsondoc.ParseObject(partial)
	if err != nil {
		return err
	}
	r := &v.scratch.compare
	type size struct {
		path  string
		bytes int
	}
	var all []size
	var walk func(n *jsondoc.Node, path string, depth int)
	walk = func(n *jsondoc.Node, path string, depth int) {
		list := r.entries(n)
		if n.Kind() != jsondoc.Map || len(list) == 0 || r.member(n, exactly) != nil || depth == 0 {
			all = append(all, size{path, len(n.Text())})
			return
		}
		for _, e := range list {
			part := jsondoc.FormatPath(e.name)
			if strings.HasPrefix(e.name, "[") && strings.HasSuffix(e.name, "]") {
				part = e.name
			}
			walk(e.value, path+part, depth-1)
		}
	}
	walk(stash.Node, "", 6)
	slices.SortStableFunc(all, func(a, b size) int { return cmp.Compare(b.bytes, a.bytes) })
	var paths []string
	for _, s := range all[:min(len(all), 5)] {
		paths = append(paths, s.path)
	}
	return &jsondoc.PathError{
		Problem: fmt.Sprintf("what only %s can say has %d bytes and an annotation keeps %d, make these fields smaller",
			v.from, len(partial), maxStash),
		Path: strings.Join(paths, ", "),
	}
}
