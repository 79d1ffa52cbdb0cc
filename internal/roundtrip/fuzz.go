package roundtrip

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// Stats counts what Fuzz did.
type Stats struct {
	// Objects were made and held to all laws, Fragments of them to those that hold for fragments, and Edits to L2.
	Objects, Fragments, Edits uint64
	// Walks were taken with objects, and Forgeries written into them.
	Walks, Forgeries uint64
	// Dropped is the number of objects that were made and not used, as they are invalid.
	Dropped uint64
}

type counters struct{ objects, fragments, edits, walks, forgeries atomic.Uint64 }

func (s *suite) count() Stats {
	c := Stats{
		Objects: s.stats.objects.Load(), Fragments: s.stats.fragments.Load(), Edits: s.stats.edits.Load(),
		Walks: s.stats.walks.Load(), Forgeries: s.stats.forgeries.Load(),
	}
	for _, g := range s.generators {
		_, dropped := g.Counts()
		c.Dropped += dropped
	}
	return c
}

// Fuzz makes count random objects of each version that the kind and the suite's CRD both have, and holds the kind to all
// laws on each, on fragments of it, and on edits of what it becomes. With a count of 0 it goes on until ctx is done, which
// is no error then. It stops at the first object on which a law does not hold, makes that smaller, and returns a
// *ViolationError.
//
// The same seed makes the same objects and finds the same violation, however many goroutines it uses: GOMAXPROCS.
func (s Suite) Fuzz(ctx context.Context, count uint64) (Stats, error) {
	if s.CRD == nil {
		return Stats{}, errors.New("no schemas to make objects from, set CRD")
	}
	b, err := s.prepare()
	if err != nil {
		return Stats{}, err
	}
	found, at := b.run(ctx, count)
	stats := b.count()
	switch {
	case found != nil:
		found = b.shrink(context.WithoutCancel(ctx), found)
		found.Index = at
		return stats, found
	case count > 0:
		return stats, ctx.Err()
	}
	return stats, nil
}

// run works through the indexes, and returns the violation of the lowest one.
func (s *suite) run(ctx context.Context, count uint64) (found *ViolationError, at uint64) {
	var next atomic.Uint64
	var lock sync.Mutex
	var group sync.WaitGroup
	done := func(index uint64) bool {
		lock.Lock()
		defer lock.Unlock()
		return count > 0 && index >= count || found != nil && index >= at
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for ctx.Err() == nil {
				index := next.Add(1) - 1
				if done(index) {
					return
				}
				v := s.index(ctx, index)
				lock.Lock()
				if v != nil && ctx.Err() == nil && (found == nil || index < at) {
					found, at = v, index
				}
				if s.Progress != nil {
					s.Progress(s.count())
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return found, at
}

// index does what there is to do for one index: an object of each version.
func (s *suite) index(ctx context.Context, index uint64) *ViolationError {
	for _, version := range s.versions() {
		object := s.generators[version].Object(s.Seed, index)
		if object == nil {
			continue
		}
		s.stats.objects.Add(1)
		if v := s.checkWithEdits(ctx, object, s.random(index, version)); v != nil {
			return v
		}
		if v := s.fragment(ctx, s.random(^index, version), object); v != nil {
			return v
		}
		if v := s.grown(ctx, version, index); v != nil {
			return v
		}
	}
	// What is simpler comes first.
	versions := s.versions()
	version := versions[index%uint64(len(versions))]
	if object := s.generators[version].Object(s.Seed, index); s.Walks && object != nil {
		r := s.random(^index, "")
		return s.randomWalk(ctx, r, object, 1+r.IntN(5))
	}
	return nil
}

// fragment holds an object without one of its parts to the laws, or with null in its place.
func (s *suite) fragment(ctx context.Context, r *rand.Rand, object []byte) *ViolationError {
	root := decode(object)
	all := parts(root)
	if len(all) == 0 {
		return nil
	}
	if p := all[r.IntN(len(all))]; r.IntN(2) == 0 {
		p.remove()
	} else {
		p.set(nil)
	}
	s.stats.fragments.Add(1)
	t, v := s.subject(ctx, encode(root))
	if v == nil {
		v = t.check()
	}
	return v
}

// grown holds an object of the next generation to L11.
func (s *suite) grown(ctx context.Context, version string, index uint64) *ViolationError {
	if s.next == nil {
		return nil
	}
	object := s.next.generators[version].Object(s.Seed, index)
	if object == nil {
		return nil
	}
	t, v := s.subject(ctx, object)
	for _, to := range s.versions() {
		if v == nil && to != version {
			v = t.growth(to)
		}
	}
	return v
}
