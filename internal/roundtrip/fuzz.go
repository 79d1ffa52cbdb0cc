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

// count changes the statistics.
func (s *suite) count(change func(*Stats)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	change(&s.stats)
}

// counted returns the statistics.
func (s *suite) counted() (c Stats) {
	s.count(func(now *Stats) { c = *now })
	for _, g := range s.generators {
		_, dropped := g.Counts()
		c.Dropped += dropped
	}
	return c
}

// Fuzz makes count random objects of each version that the kind and the suite's CRD both have, and holds the kind to all
// laws on each, on fragments of it, and on edits of what it becomes. With a count of 0 it goes on until ctx is done, which
// is not an error then. It stops at the first object that violates a law, makes that smaller, and returns a
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
	stats := b.counted()
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
			for index := next.Add(1) - 1; ctx.Err() == nil && !done(index); index = next.Add(1) - 1 {
				v := s.index(ctx, index)
				lock.Lock()
				if v != nil && ctx.Err() == nil && (found == nil || index < at) {
					found, at = v, index
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

// index does what there is to do for one index: an object of each version, and then a walk with one, so that what is simpler
// comes first.
func (s *suite) index(ctx context.Context, index uint64) *ViolationError {
	for _, version := range s.versions {
		object := s.generators[version].Object(s.Seed, index)
		if object == nil {
			continue
		}
		s.count(func(c *Stats) { c.Objects++ })
		if v := s.checkWithEdits(ctx, object, s.random(index, version)); v != nil {
			return v
		}
		if v := s.fragment(ctx, s.random(^index, version), object); v != nil {
			return v
		}
	}
	version := s.versions[index%uint64(len(s.versions))]
	if object := s.generators[version].Object(s.Seed, index); s.Walks && object != nil {
		r := s.random(^index, "")
		return s.randomWalk(ctx, r, object, 1+r.IntN(5))
	}
	return nil
}

// fragment holds an object without one of its parts to the laws, or with null in its place.
func (s *suite) fragment(ctx context.Context, r *rand.Rand, object []byte) *ViolationError {
	root := literal(object)
	all := parts(root)
	if len(all) == 0 {
		return nil
	}
	if p := all[r.IntN(len(all))]; r.IntN(2) == 0 {
		p.remove()
	} else {
		p.set(nil)
	}
	s.count(func(c *Stats) { c.Fragments++ })
	t, v := s.subject(ctx, encode(root))
	if v == nil {
		v = t.check()
	}
	return v
}

// A Shaper holds a kind to the laws on objects that someone else chooses: a fuzz target of Go, which looks for new ways
// through the code. It is safe for concurrent use.
type Shaper struct{ suite *suite }

// Shaper returns the suite as one. It needs the schemas of the versions.
func (s Suite) Shaper() (*Shaper, error) {
	b, err := s.prepare()
	return &Shaper{b}, err
}

// Check holds the kind to all laws on an object of a version of the CRD, whose choices are the bytes of one text, and on edits of
// what it becomes, whose choices are those of the other. The error is a *ViolationError.
func (s *Shaper) Check(ctx context.Context, version, object, edits string) error {
	made := s.suite.generators[version].make(chosenBy(object))
	if made == nil {
		return nil
	}
	return s.suite.shrunk(ctx, s.suite.checkWithEdits(ctx, made, chosenBy(edits)))
}

// Forge holds the kind to L13 on what an object of a version becomes at another one: with annotations by the choices of the second
// text, and with the given ones. The error is a *ViolationError.
func (s *Shaper) Forge(ctx context.Context, version, to, object, forgery string, annotations map[string]string) error {
	made := s.suite.generators[version].make(chosenBy(object))
	there, err := s.suite.convert(ctx, made, version, to)
	if made == nil || err != nil {
		return nil //nolint:nilerr // L7
	}
	return s.suite.shrunk(ctx, s.suite.forged(ctx, chosenBy(forgery), there, to, version, annotations))
}

// choices is a source of random numbers, each of which is a byte of a text, and behind its end always the same ones.
type choices struct {
	text string
	rand.PCG
}

func chosenBy(text string) *rand.Rand { return rand.New(&choices{text: text}) } //nolint:gosec // choices that can be repeated

// Uint64 implements rand.Source. It repeats the byte, as callers look at other bits for other ranges.
func (c *choices) Uint64() uint64 {
	if c.text == "" {
		return c.PCG.Uint64()
	}
	n := uint64(c.text[0]) * 0x0101010101010101
	c.text = c.text[1:]
	return n
}
