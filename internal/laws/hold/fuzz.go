package hold

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// Stats counts what Fuzz did.
type Stats struct {
	// Objects were made and held to all laws, Fragments of them to those that hold for fragments,
	// and Edits to L2.
	Objects, Fragments, Edits uint64
	// Walks were taken with objects, and Forgeries written into them.
	Walks, Forgeries uint64
	// Dropped is the number of objects that were made and not used, because they are invalid.
	Dropped uint64
	// Shortfalls are the versions with fewer objects than Fuzz was asked for, and Rejections the
	// directions in which valid objects become invalid ones. Only Fuzz returns them.
	Shortfalls []generate.Shortfall
	Rejections []Rejection
}

// count changes the statistics.
func (s *Runner) count(change func(*Stats)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	change(&s.stats)
}

// counted returns the statistics.
func (s *Runner) counted() (c Stats) {
	s.count(func(now *Stats) { c = *now })
	for _, g := range s.generators {
		c.Dropped += g.Dropped()
	}
	return c
}

// Fuzz makes count random objects of each version that the kind and the suite's CRD both have, and
// holds the kind to all laws on each, on fragments of it, and on edits of what it becomes. With a
// count of 0 it goes on until ctx is done, which is not an error then. It stops at the first object
// that violates a law, makes that smaller, and returns a *ViolationError.
//
// The same seed makes the same objects and finds the same violation, however many goroutines it
// uses: GOMAXPROCS.
func (s Suite) Fuzz(ctx context.Context, count uint64) (Stats, error) {
	b, err := s.Prepare()
	if err != nil {
		return Stats{}, err
	}
	found, at := b.run(ctx, count)
	stats := b.counted()
	if found != nil {
		found = b.smallest(context.WithoutCancel(ctx), found)
		found.Index = at
		return stats, found
	}
	for _, version := range b.Versions {
		if short, is := b.generators[version].Shortfall(s.Seed); is {
			stats.Shortfalls = append(stats.Shortfalls, short)
		}
	}
	stats.Rejections = b.rejections()
	if count > 0 {
		return stats, ctx.Err()
	}
	return stats, nil
}

// run works through the indexes, and returns the violation of the lowest one.
func (s *Runner) run(ctx context.Context, count uint64) (found *ViolationError, at uint64) {
	var next, end atomic.Uint64
	end.Store(count - 1) // of 0, the last index that there is
	var lock sync.Mutex
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for index := next.Add(1) - 1; ctx.Err() == nil && index <= end.Load(); index = next.Add(1) - 1 {
				v := s.index(ctx, index)
				lock.Lock()
				if v != nil && ctx.Err() == nil && index <= end.Load() {
					found, at = v, index
					end.Store(index)
				}
				if s.Progress != nil {
					s.Progress(s.counted())
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return found, at
}

// index does what there is to do for one index: an object of each version, and then a walk with
// one, so that what is simpler comes first.
func (s *Runner) index(ctx context.Context, index uint64) *ViolationError {
	for _, version := range s.Versions {
		object := s.generators[version].Counted(s.Seed, index)
		if object == nil {
			continue
		}
		s.count(func(c *Stats) { c.Objects++ })
		if v := s.Hold(ctx, object, s.random(index, version)); v != nil {
			return v
		}
		if v := s.fragment(ctx, s.random(^index, version), object); v != nil {
			return v
		}
	}
	version := s.Versions[index%uint64(len(s.Versions))]
	if object := s.generators[version].Object(s.Seed, index); s.Walks && object != nil {
		t, v := s.subject(ctx, object)
		if v != nil {
			return v
		}
		t.rand = s.random(^index, "")
		return t.hold(walked, "")
	}
	return nil
}

// fragment holds an object without one of its parts to the laws, or with null in its place.
func (s *Runner) fragment(ctx context.Context, r *rand.Rand, object []byte) *ViolationError {
	root := tree.Literal(object)
	all := tree.Parts(root)
	if len(all) == 0 {
		return nil
	}
	if p := all[r.IntN(len(all))]; r.IntN(2) == 0 {
		p.Remove()
	} else {
		p.Set(nil)
	}
	s.count(func(c *Stats) { c.Fragments++ })
	t, v := s.subject(ctx, tree.Encode(root))
	if v == nil {
		v = t.check()
	}
	return v
}

// A Rejection says how many valid objects of a version become objects that another version refuses,
// and why. The paths are of the version To.
type Rejection struct {
	From, To string
	// Objects is how many of All are refused there.
	Objects, All uint64
	Causes       []generate.Refusal
}

type rejected struct {
	objects, all uint64
	causes       generate.Refusals
}

// outcome counts whether a version accepts what a valid object becomes there, with its pruning, its
// defaults and its validation rules.
func (t *subject) outcome(to string) {
	schema := t.Schema(to)
	if !t.Outcomes || t.keeps || t.refused {
		return
	}
	reasons := generate.ReasonsOf(schema, slices.DeleteFunc(schema.Validate(t.View(to, t.results[to])), func(err *field.Error) bool {
		path, _ := generate.SchemaPath(schema.Root, err.Field)
		return err.Type == field.ErrorTypeRequired && t.MayBeAbsent != nil && t.MayBeAbsent(t.version, to, path)
	}))
	t.lock.Lock()
	defer t.lock.Unlock()
	d := direction{t.version, to}
	r := t.rejected[d]
	if r == nil {
		r = &rejected{causes: generate.Refusals{}}
		t.rejected[d] = r
	}
	r.all++
	if len(reasons) > 0 {
		r.objects++
		r.causes.Add(reasons)
	}
}

// rejections returns the directions with refused objects, in the order of the versions.
func (s *Runner) rejections() []Rejection {
	var all []Rejection
	for _, from := range s.Versions {
		for _, to := range s.Others(from) {
			if r := s.rejected[direction{from, to}]; r != nil && r.objects > 0 {
				all = append(all, Rejection{from, to, r.objects, r.all, r.causes.Sorted()})
			}
		}
	}
	return all
}
