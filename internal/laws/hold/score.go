package hold

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/laws/shrink"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Law is one that Score holds a kind to by itself.
type Law string

// The laws of Score.
const (
	// LawFragments: a fragment of an object converts. The way back adds nothing but defaults of its
	// schema, unless the fragment breaks more of its schema than what is required.
	LawFragments Law = "fragments"
	// LawLargeNumbers: large numbers come back as they are, in objects that come back with small
	// ones.
	LawLargeNumbers Law = "large numbers"
	// LawSchema is L6 and L13: a converted object has fields of the schema only, and of its types.
	LawSchema Law = "schema"
	// LawRoundTrip is L1.
	LawRoundTrip Law = "round trip"
	// LawEdits is L2, on walks.
	LawEdits Law = "edits"
)

// A Score says how many objects were held to a law, and how many violate it. Objects to which the
// law does not apply are not counted.
type Score struct {
	Objects, Failed uint64
	// First is the first violation, on the smallest object that was found, or nil.
	First *ViolationError
}

// Object returns the random object of a version and an index, always the same, or nil if chance
// makes none that is valid. It has no large numbers, which LawLargeNumbers is about.
func (s *Runner) Object(version string, index uint64) []byte {
	return s.ordinary(version, s.generators[version].Object(s.Seed, index))
}

// Score holds count random objects of each version to a law. It ends with the error of ctx.
func (s *Runner) Score(ctx context.Context, law Law, count uint64) (Score, error) {
	var score Score
	for index := range count {
		for _, version := range s.Versions {
			object := s.Object(version, index)
			if object == nil {
				continue
			}
			holds, v := s.try(ctx, law, object, index)
			if err := ctx.Err(); err != nil {
				return score, err
			}
			if v != nil {
				score.Failed++
			}
			if v != nil && score.First == nil {
				v.Index = index
				score.First = s.least(ctx, law, v)
				score.First.Law = string(law)
			}
			if holds || v != nil {
				score.Objects++
			}
		}
	}
	return score, nil
}

// try holds an object to a law. It returns false and no violation for one to which the law does not
// apply.
func (s *Runner) try(ctx context.Context, law Law, object []byte, index uint64) (bool, *ViolationError) {
	version, _ := tree.VersionOf(object)
	r := s.random(^index, version)
	switch law {
	case LawEdits:
		v := s.randomWalk(ctx, r, object, 1+r.IntN(4))
		if v != nil && v.Law != lawEdit {
			return false, nil // the round trip without edits fails
		}
		return true, v
	case LawFragments:
		root := tree.Literal(object)
		for range 1 + r.IntN(3) {
			all := slices.DeleteFunc(tree.Parts(root), tree.Part.IsMeta)
			if len(all) == 0 {
				break
			}
			all[r.IntN(len(all))].Remove()
		}
		object = tree.Encode(root)
	case LawLargeNumbers:
		if object = s.withNumber(object, index, large); object == nil {
			return false, nil
		}
	case LawSchema, LawRoundTrip:
	}
	return s.holds(ctx, law, object)
}

// large is a number that a float64 cannot hold.
const large = int64(9007199254740993)

// ordinary returns an object with small numbers instead of large ones, if it is valid with them.
func (s *Runner) ordinary(version string, object []byte) []byte {
	if object == nil {
		return nil
	}
	root := s.Read(object)
	for _, p := range tree.Parts(root) {
		n, whole := p.Value.(int64)
		if !whole || n > -large && n < large {
			continue
		}
		if p.Set(int64(7)); p.IsMeta() || len(s.Schema(version).Validate(s.View(version, tree.Encode(root)))) > 0 {
			p.Undo()
		}
	}
	return tree.Encode(root)
}

// withNumber returns a valid object with a number in place of one of its own, nil if it has none
// for which the schema allows that.
func (s *Runner) withNumber(object []byte, index uint64, number int64) []byte {
	version, _ := tree.VersionOf(object)
	root := s.Read(object)
	whole := slices.DeleteFunc(tree.Parts(root), func(p tree.Part) bool {
		_, is := p.Value.(int64)
		return !is || p.IsMeta()
	})
	for i := range whole {
		p := whole[(i+int(index))%len(whole)] //nolint:gosec // a small number
		p.Set(number)
		if len(s.Schema(version).Validate(s.View(version, tree.Encode(root)))) == 0 {
			return tree.Encode(root)
		}
		p.Undo()
	}
	return nil
}

// holds reports whether a law applies to an object as it is, and how it violates the law.
func (s *Runner) holds(ctx context.Context, law Law, object []byte) (bool, *ViolationError) {
	t, v := s.subject(ctx, object)
	if v != nil {
		return false, nil //nolint:nilerr // not an object of the kind
	}
	applies := false
	for _, to := range t.Others(t.version) {
		held, v := t.held(law, to)
		if v != nil {
			v.Law = string(law)
			return true, v
		}
		applies = applies || held
	}
	return applies, nil
}

func (t *subject) held(law Law, to string) (bool, *ViolationError) {
	there, err := t.convert(t.ctx, t.object, t.version, to)
	switch {
	case err != nil && law == LawFragments:
		return true, t.violation("", to, "%v", err)
	case err != nil || t.class == wild:
		return false, nil //nolint:nilerr // it is another check that fails
	}
	t.there[to] = there
	switch law {
	case LawFragments:
		return true, t.grows(to, there)
	case LawLargeNumbers:
		return t.holdsNumbers(to, there)
	case LawSchema:
		object := t.Read(there)
		tree.DropNulls(object)
		if v := t.pruned(to, object); v != nil {
			return true, v
		}
		if problems := t.problems(to, t.Read(there)); slices.ContainsFunc(problems, isMistyped) {
			problem := problems[slices.IndexFunc(problems, isMistyped)]
			return true, t.violation("", to, "%v: %s", problem, there)
		}
		return true, nil
	case LawRoundTrip, LawEdits:
	}
	return true, t.returns(to, there)
}

// holdsNumbers holds an object to a round trip if it makes one with small numbers.
func (t *subject) holdsNumbers(to string, there []byte) (bool, *ViolationError) {
	v := t.returns(to, there)
	if v == nil {
		return true, nil
	}
	root := t.Read(t.object)
	for _, p := range tree.Parts(root) {
		if p.Value == large {
			p.Set(int64(7))
		}
	}
	small, wrong := t.subject(t.ctx, tree.Encode(root))
	if wrong != nil {
		return false, nil //nolint:nilerr // not an object of the kind
	}
	there, err := small.convert(t.ctx, small.object, t.version, to)
	if err != nil || small.returns(to, there) != nil {
		return false, nil //nolint:nilerr // the number makes no difference
	}
	return true, v
}

// grows says what a fragment has on the way back that it did not have: server-side apply would take
// it for a field that its manager has set. What the API server fills in itself does no harm.
func (t *subject) grows(to string, there []byte) *ViolationError {
	back, err := t.convert(t.ctx, there, to, t.version)
	if err != nil {
		return t.violation("", to, "the way back: %v: %s", err, there)
	}
	if t.class == wild {
		return nil
	}
	was, is := t.Visible(t.Read(t.object)), t.Visible(t.Read(back))
	tree.DropNulls(is)
	for _, path := range tree.Added(was, is, nil, nil) {
		if tree.Lost(tree.At(is, path...), tree.At(t.state, path...), "").Path == "" {
			continue
		}
		return t.violation("", to, "there %s, back %s", there, back).differs(t.version, tree.NewGap(tree.FormatPath(path), tree.Absent{}, tree.At(is, path...)))
	}
	return nil
}

// least returns the violation on the smallest object.
func (s *Runner) least(ctx context.Context, law Law, found *ViolationError) *ViolationError {
	if found.Walk != nil {
		return s.shrink(ctx, found)
	}
	was, v := s.subject(ctx, found.Object)
	if v != nil {
		return found
	}
	index := found.Index
	shrink.Smallest(ctx, found.Object, shrink.MaxRemote, func(object []byte) bool {
		if version, err := tree.VersionOf(object); err != nil || version != found.From {
			return false
		}
		t, v := s.subject(ctx, object)
		if v != nil || t.class > was.class {
			return false
		}
		if _, v = s.holds(ctx, law, object); v == nil || v.To != found.To {
			return false
		}
		found = v
		return true
	})
	found.Index = index
	return found
}
