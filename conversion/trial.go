package conversion

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A trial finds out which kept values may return to y, the result of converting x. Let g be what y
// converts back to. Values that return must not change what x says: where g has something else than
// x, it must be what y converts back to without them.
//
// If they do, a user has edited x since they were kept. The units are found then by leaving out one
// value after the other: values whose absence changes the same leaf of g are computed from one
// another. A unit that touches a leaf where g is wrong goes, and all others stay.
type trial struct {
	*keeping

	y, x  *jsondoc.Object
	plain jsondoc.Value // y without kept values
}

// with restores entries in y, and returns what y converts back to.
func (t *trial) with(ctx context.Context, entries []*annotation.Entry) (*keep.Restored, *jsondoc.Object, error) {
	t.y.Replace(t.plain)
	restored, err := keep.Restore(ctx, &keep.Memory{}, t.y, t.x, nil, entries, t.target.Layout)
	if err == nil {
		_, err = t.fill(t.target, t.y)
	}
	if err != nil {
		return nil, nil, err
	}
	g, err := t.back(ctx, t.y)
	return restored, g, err
}

// agreeing returns the entries that do not contradict x. g is what y converts back to with all of
// them, or nil if it cannot be converted.
func (t *trial) agreeing(ctx context.Context, entries []*annotation.Entry, g *jsondoc.Object) []*annotation.Entry {
	_, without, err := t.with(ctx, nil)
	if err != nil || g == nil {
		return nil
	}
	wrong := t.wrong(g, without)
	if len(wrong) == 0 {
		return entries
	}
	var accepted []*annotation.Entry
	for _, u := range t.units(ctx, entries, g) {
		if !u.leaves.overlap(wrong) {
			accepted = append(accepted, u.entries...)
		}
	}
	if _, g, err = t.with(ctx, accepted); err != nil || len(t.wrong(g, without)) > 0 {
		return nil
	}
	return accepted
}

// wrong returns the leaves where g differs both from x and from what y converts back to without
// kept values. What both of these lack is the same in both, even if an object around it is in only
// one of them.
func (t *trial) wrong(g, without *jsondoc.Object) leaves {
	other, now, before := t.source.differing(g, without).leaves, t.source.differing(g, t.x), t.source.differing(without, t.x)
	return slices.DeleteFunc(now.leaves, func(path string) bool {
		return !other.overlap(leaves{path}) || now.missing.within(path) && before.missing.within(path)
	})
}

// differing returns the places in which two objects of the version differ, once the API server has
// filled in its defaults.
func (l *layout) differing(a, b *jsondoc.Object) *difference {
	d := differing(a, b, l.Schema)
	if len(d.leaves) == 0 || !l.Schema.HasDefaults() {
		return d
	}
	fa, errA := copyOf(a)
	fb, errB := copyOf(b)
	if errA != nil || errB != nil {
		return d
	}
	_, errA = l.Schema.Fill(fa.Node)
	_, errB = l.Schema.Fill(fb.Node)
	if errA != nil || errB != nil {
		return d
	}
	return differing(fa, fb, l.Schema)
}

// A unit has kept values that are computed from one another, and the leaves that they change.
type unit struct {
	entries []*annotation.Entry
	leaves  leaves
}

// Units cost as many conversions as there are kept values, but no more than maxTrials, and for
// large objects no more than are trialBytes long together: neighbours are one value then.
const (
	maxTrials  = 64
	minTrials  = 4
	trialBytes = 4 << 20
)

func (t *trial) units(ctx context.Context, entries []*annotation.Entry, g *jsondoc.Object) []*unit {
	var units []*unit
	trials := max(minTrials, min(maxTrials, trialBytes/(1+len(t.x.Text()))))
	size := (len(entries) + trials - 1) / trials
	for i := 0; i < len(entries); i += size {
		end := min(i+size, len(entries))
		u := &unit{entries: entries[i:end:end]}
		if _, without, err := t.with(ctx, slices.Concat(entries[:i], entries[end:])); err == nil {
			u.leaves = t.source.differing(g, without).leaves
		}
		units = slices.DeleteFunc(units, func(other *unit) bool {
			if !other.leaves.overlap(u.leaves) {
				return false
			}
			u.entries, u.leaves = append(u.entries, other.entries...), append(u.leaves, other.leaves...)
			slices.Sort(u.leaves)
			return true
		})
		units = append(units, u)
	}
	return units
}

// leaves are the paths of places in an object, in order. Each step of a path ends with a NUL.
type leaves []string

// overlap reports whether a path of l is, contains or is in one of others.
func (l leaves) overlap(others leaves) bool {
	return slices.ContainsFunc(others, func(path string) bool {
		if at, _ := slices.BinarySearch(l, path); at < len(l) && strings.HasPrefix(l[at], path) {
			return true
		}
		return l.within(path)
	})
}

// within reports whether a path is in l, or leads through a path of l.
func (l leaves) within(path string) bool {
	for i := range len(path) {
		if path[i] != 0 {
			continue
		}
		if _, is := slices.BinarySearch(l, path[:i+1]); is {
			return true
		}
	}
	return false
}

// differing returns the places in which two objects of a version differ: values that are no
// objects, and lists of different lengths. It leaves out what conversions must not change,
// webhookd's own annotations, and fields that the schema does not have: conversions copy these, but
// the API server may have pruned them.
func differing(a, b *jsondoc.Object, schema *crdschema.Node) *difference {
	d := &difference{}
	d.members(a.Node, b.Node, schema, "", isHead[string])
	for _, field := range []string{"labels", "annotations"} {
		was, errA := a.Get("metadata", field)
		now, errB := b.Get("metadata", field)
		if errA == nil && errB == nil {
			d.members(was, now, nil, "metadata\x00"+field+"\x00", annotation.IsOwn[string])
		}
	}
	slices.Sort(d.leaves)
	slices.Sort(d.missing)
	return d
}

type difference struct {
	leaves  leaves
	missing leaves // of these, what the first object lacks
}

func (d *difference) value(a, b *jsondoc.Node, schema *crdschema.Node, path string) {
	switch {
	case a.SameText(b):
	case a.Kind() == jsondoc.Map && b.Kind() == jsondoc.Map:
		d.members(a, b, schema, path, nil)
	case a.Kind() == jsondoc.Array && b.Kind() == jsondoc.Array && a.Len() == b.Len():
		i := -1
		_ = jsondoc.Pairs(a, b, true, func(_ []byte, a, b *jsondoc.Node) bool {
			i++
			d.value(a, b, schema.Items(), path+strconv.Itoa(i)+"\x00")
			return true
		})
	case a.Kind() != b.Kind() || !bytes.Equal(a.Text(), b.Text()):
		d.leaves = append(d.leaves, path)
		if a.Kind() == jsondoc.Invalid {
			d.missing = append(d.missing, path)
		}
	}
}

// members compares two objects, either of which may be nil. An object with a name that occurs twice
// has been refused already.
func (d *difference) members(a, b *jsondoc.Node, schema *crdschema.Node, path string, leaveOut func(name string) bool) {
	_ = jsondoc.Pairs(a, b, false, func(field []byte, a, b *jsondoc.Node) bool {
		name, m := string(field), memberOf(schema, field)
		unknown := schema != nil && m == nil && !schema.PreservesUnknown()
		if !unknown && (leaveOut == nil || !leaveOut(name)) {
			d.value(a, b, m, path+name+"\x00")
		}
		return true
	})
}
