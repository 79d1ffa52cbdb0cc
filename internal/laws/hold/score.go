package hold

import (
	"cmp"
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Score says how many objects were held to a law, and how many violate it. Objects to which the
// law does not apply are not counted.
type Score struct {
	Objects, Failed uint64
	// First is the first violation, on the smallest object that was found, or nil.
	First *ViolationError
}

// Object returns the random object of a version and an index, always the same, or nil if chance
// makes none that is valid. Those of a Remote have no large numbers, which [LargeNumbers] is about.
func (s *Runner) Object(version string, index uint64) []byte {
	return s.generators[version].Object(s.Seed, index)
}

// Score makes the check of a law on count random objects of each version. It ends with the error of
// ctx.
func (s *Runner) Score(ctx context.Context, law Law, count uint64) (Score, error) {
	row := RowOf(law)
	judge := func(t *subject, to string) (bool, *ViolationError) { return t.judged(&row, to) }
	return s.score(ctx, count, judge, func(object []byte, index uint64) (bool, *ViolationError) {
		if row.sample != nil {
			object = row.sample(s, object, index)
		}
		if row.judge != nil {
			return s.first(ctx, object, judge)
		}
		version, _ := tree.VersionOf(object)
		r := s.random(^index, version)
		v := s.randomWalk(ctx, r, object, 1+r.IntN(4))
		if v != nil && v.Law != law {
			return false, nil // the round trip without edits fails
		}
		return true, v
	})
}

// A Judge reports whether a check applies to an object in the conversion from a version to another,
// and what is wrong.
type Judge func(object []byte, from, to string) (applies bool, v *ViolationError)

// Judge makes another check on count random objects of each version.
func (s *Runner) Judge(ctx context.Context, count uint64, by Judge) (Score, error) {
	judge := func(t *subject, to string) (bool, *ViolationError) { return by(t.object, t.version, to) }
	return s.score(ctx, count, judge, func(object []byte, _ uint64) (bool, *ViolationError) { return s.first(ctx, object, judge) })
}

type judge func(t *subject, to string) (applies bool, v *ViolationError)

// score tries random objects. The first that fails is made smaller for as long as again fails in
// the same direction.
func (s *Runner) score(
	ctx context.Context, count uint64, again judge, try func(object []byte, index uint64) (applies bool, v *ViolationError),
) (score Score, err error) {
	for index := range count {
		for _, version := range s.Versions {
			object := s.Object(version, index)
			if object == nil {
				continue
			}
			applies, v := try(object, index)
			if err := ctx.Err(); err != nil {
				return score, err
			}
			if v != nil && score.First == nil {
				law, to := v.Law, v.To
				score.First = s.shrink(ctx, v, func(t *subject) *ViolationError {
					_, v := again(t, to)
					return v
				})
				score.First.Law, score.First.Index = law, index
			}
			score.Count(applies, v)
		}
	}
	return score, ctx.Err()
}

// Count counts an object.
func (s *Score) Count(applies bool, v *ViolationError) {
	if applies || v != nil {
		s.Objects++
	}
	if v != nil {
		s.Failed++
		s.First = cmp.Or(s.First, v)
	}
}

// first judges an object in all directions, up to the first violation.
func (s *Runner) first(ctx context.Context, object []byte, by judge) (applies bool, v *ViolationError) {
	t, v := s.subject(ctx, object)
	if v != nil {
		return false, nil //nolint:nilerr // there is no sample
	}
	for _, to := range t.Others(t.version) {
		held, v := by(t, to)
		if v != nil {
			return true, v
		}
		applies = applies || held
	}
	return applies, nil
}

// judged makes the check of a law on the object.
func (t *subject) judged(row *Row, to string) (applies bool, v *ViolationError) {
	there, err := t.convert(t.ctx, t.object, t.version, to)
	switch {
	case err != nil && row.Law == Total:
		return true, t.violation(Total, to, "%v", err)
	case err != nil || t.class == classInvalid:
		return false, nil //nolint:nilerr // it is another check that fails
	}
	t.results[to] = there
	if applies, v = row.judge(t, to); v != nil {
		v.Law = row.Law
	}
	return applies, v
}

// withoutParts returns an object without some of its parts.
func (s *Runner) withoutParts(object []byte, index uint64) []byte {
	version, _ := tree.VersionOf(object)
	r := s.random(^index, version)
	root := tree.Literal(object)
	for range 1 + r.IntN(3) {
		all := slices.DeleteFunc(tree.Parts(root), tree.Part.IsMeta)
		if len(all) == 0 {
			break
		}
		generate.Pick(r, all...).Remove()
	}
	return tree.Encode(root)
}

// withLargeNumber returns a valid object with a large number in place of one of its own, nil if it
// has none for which the schema allows that.
func (s *Runner) withLargeNumber(object []byte, index uint64) []byte {
	version, _ := tree.VersionOf(object)
	root := tree.Read(object)
	whole := slices.DeleteFunc(tree.Parts(root), func(p tree.Part) bool {
		_, is := p.Value.(int64)
		return !is || p.IsMeta()
	})
	for i := range whole {
		p := whole[(i+int(index))%len(whole)] //nolint:gosec // a small number
		p.Set(generate.Large)
		if len(s.Schema(version).Validate(s.View(version, tree.Encode(root)))) == 0 {
			return tree.Encode(root)
		}
		p.Undo()
	}
	return nil
}

// holdsNumbers holds an object to a round trip if it makes one with small numbers.
func (t *subject) holdsNumbers(to string) (applies bool, v *ViolationError) {
	if v = t.returns(to); v == nil {
		return true, nil
	}
	root := tree.Read(t.object)
	for _, p := range tree.Parts(root) {
		if p.Value == generate.Large {
			p.Set(int64(7))
		}
	}
	small, wrong := t.subject(t.ctx, tree.Encode(root))
	if wrong != nil || small.roundTrip(to) != nil {
		return false, nil //nolint:nilerr // the number makes no difference
	}
	return true, v
}

// fits is [Prune], and holds the object to the types of the schema.
func (t *subject) fits(to string) (applies bool, v *ViolationError) {
	object := tree.Read(t.results[to])
	tree.DropNulls(object)
	if v := t.prunes(to, object); v != nil {
		return true, v
	}
	problems := t.problems(to, tree.Read(t.results[to]))
	if i := slices.IndexFunc(problems, isMistyped); i >= 0 {
		return true, t.violation(Prune, to, "%v: %s", problems[i], t.results[to])
	}
	return true, nil
}

// grows says what a fragment has on the way back that it did not have: server-side apply would take
// it for a field that its manager has set. What the API server fills in itself does no harm.
func (t *subject) grows(to string) (applies bool, v *ViolationError) {
	back, err := t.convert(t.ctx, t.results[to], to, t.version)
	if err != nil {
		return true, t.violation(Total, to, "the way back: %v: %s", err, t.results[to])
	}
	was, is := t.Visible(tree.Read(t.object)), t.Visible(tree.Read(back))
	tree.DropNulls(is)
	for _, path := range tree.Added(was, is, nil, nil) {
		if tree.Lost(tree.At(is, path...), tree.At(t.state, path...), "").Path == "" {
			continue
		}
		return true, t.violation(Total, to, "there %s, back %s", t.results[to], back).
			differs(t.version, tree.NewGap(tree.FormatPath(path), tree.Absent{}, tree.At(is, path...)))
	}
	return true, nil
}
