package roundtrip

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Stats counts what Fuzz did.
type Stats struct {
	// Objects were made and held to all laws, Fragments of them to those that hold for fragments, and Edits to L2.
	Objects, Fragments, Edits uint64
	// Dropped is the number of objects that were made and not used, as they are invalid.
	Dropped uint64
}

type counters struct{ objects, fragments, edits atomic.Uint64 }

func (b *bench) count() Stats {
	s := Stats{Objects: b.stats.objects.Load(), Fragments: b.stats.fragments.Load(), Edits: b.stats.edits.Load()}
	for _, g := range b.generators {
		_, dropped := g.Counts()
		s.Dropped += dropped
	}
	return s
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
	b, err := s.bench()
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
func (b *bench) run(ctx context.Context, count uint64) (found *ViolationError, at uint64) {
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
				v := b.index(ctx, index)
				lock.Lock()
				if v != nil && ctx.Err() == nil && (found == nil || index < at) {
					found, at = v, index
				}
				if b.Progress != nil {
					b.Progress(b.count())
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return found, at
}

// index does what there is to do for one index: an object of each version.
func (b *bench) index(ctx context.Context, index uint64) *ViolationError {
	for _, version := range b.versions() {
		object := b.generators[version].Object(b.Seed, index)
		if object == nil {
			continue
		}
		b.stats.objects.Add(1)
		if v := b.checkWithEdits(ctx, object, index); v != nil {
			return v
		}
		r := b.random(^index, version)
		for range 1 {
			root := decode(object)
			all := parts(root)
			if len(all) == 0 {
				break
			}
			if p := all[r.IntN(len(all))]; r.IntN(2) == 0 {
				p.remove()
			} else {
				p.set(nil)
			}
			b.stats.fragments.Add(1)
			t, v := b.trial(ctx, encode(root))
			if v == nil {
				v = t.check()
			}
			if v != nil {
				return v
			}
		}
	}
	return nil
}
