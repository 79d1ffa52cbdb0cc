package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// maxTrials bounds the values that are tried one by one. If there are more, neighbours are one.
const maxTrials = 64

// settle restores kept values in the result, and returns what has to be kept of x.
//
// A value that returned below a place of a unit must not make the result say something else than x:
// its base is its own place, so an edit elsewhere in the unit leaves it valid. If the way back
// differs from x at more places with such values than without, only those return with which it does
// not.
func (v *conversion) settle(x *jsondoc.Object, is shown, kept []*keep.Entry, unknown bool) ([]*keep.Entry, error) {
	if len(kept) == 0 {
		return v.lost(x, unknown, nil)
	}
	s := &settling{v, x, is, unknown}
	restored, entries, err := s.with(kept)
	if err != nil || len(entries) == 0 || len(restored.Loose()) == 0 {
		return entries, err
	}
	loose := restored.Loose()
	agreed := except(kept, loose)
	without, err := s.again(agreed)
	if err != nil {
		return nil, err
	}
	if keep.NewPlaces(entries, without) == 0 {
		return s.again(kept)
	}
	for some := range slices.Chunk(loose, (len(loose)+maxTrials-1)/maxTrials) {
		more := slices.Concat(agreed, some)
		if entries, err = s.again(more); err != nil {
			return nil, err
		}
		if keep.NewPlaces(entries, without) == 0 {
			agreed = more
		}
	}
	return s.again(agreed)
}

type settling struct {
	*conversion

	x       *jsondoc.Object
	is      shown // of x
	unknown bool
}

// with restores kept values in the result, and returns what has to be kept of x then.
func (s *settling) with(kept []*keep.Entry) (*keep.Restored, []*keep.Entry, error) {
	restored, err := keep.Restore(s.ctx, &s.scratch.kept, s.obj, s.x, kept, s.target)
	if err != nil {
		return nil, nil, err
	}
	entries, err := s.lost(s.x, s.unknown, restored)
	return restored, entries, err
}

// lost returns entries for what the way back does not give of x.
func (v *conversion) lost(x *jsondoc.Object, unknown bool, restored *keep.Restored) ([]*keep.Entry, error) {
	y, err := v.completed()
	if err != nil {
		return nil, err
	}
	g, err := v.wayBack(y)
	if err != nil {
		return nil, err
	}
	return keep.Diff(v.ctx, &v.scratch.kept, x, g, v.obj, v.source, unknown, restored)
}

// again converts x once more, and restores kept values.
func (s *settling) again(kept []*keep.Entry) ([]*keep.Entry, error) {
	text, err := jsondoc.RawValue(s.is.text)
	if err != nil {
		return nil, err
	}
	s.obj.Replace(text)
	if _, err := keep.Take(s.obj, s.Versions, &s.scratch.kept); err != nil {
		return nil, err
	}
	if _, err := s.forth(s.is, true); err != nil {
		return nil, err
	}
	_, entries, err := s.with(kept)
	return entries, err
}

// except returns the entries that are not among others.
func except(entries, others []*keep.Entry) []*keep.Entry {
	out := make(map[*keep.Entry]bool, len(others))
	for _, e := range others {
		out[e] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e *keep.Entry) bool { return out[e] })
}
