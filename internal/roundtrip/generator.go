package roundtrip

import (
	"iter"
	"math/rand/v2"
	"sync/atomic"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A Generator makes random objects of a version: sparse, full, zero-valued, huge and ordinary ones. Each is what the API
// server would have: pruned and defaulted by its own code, and valid. It is safe for concurrent use.
type Generator struct {
	version  *crdschema.Version
	hints    *hintTable
	patterns map[string]*pattern

	made, dropped atomic.Uint64
}

// NewGenerator returns a generator of objects of a version. It fails for hints that cannot be read.
func NewGenerator(v *crdschema.Version, hints Hints) (*Generator, error) {
	table, err := newHintTable(v, hints)
	if err != nil {
		return nil, err
	}
	g := &Generator{version: v, hints: table, patterns: map[string]*pattern{}}
	g.findPatterns(v.Root)
	return g, nil
}

// Object returns the object of a seed and an index, always the same, or nil if all that it tried are invalid. It tries five
// times.
func (g *Generator) Object(seed, index uint64) []byte {
	for try := range uint64(5) {
		r := rand.New(rand.NewPCG(seed^hash(g.version.Name)+try<<56, index)) //nolint:gosec // choices that can be repeated
		if obj := g.make(r); obj != nil {
			g.made.Add(1)
			return obj
		}
		g.dropped.Add(1)
	}
	return nil
}

// Objects yields objects without end, the same ones for the same seed. It stops only when a hundred in a row are invalid.
func (g *Generator) Objects(seed uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for index, failed := uint64(0), 0; failed < 100; index++ {
			obj := g.Object(seed, index)
			if obj == nil {
				failed++
				continue
			}
			failed = 0
			if !yield(obj) {
				return
			}
		}
	}
}

// Counts returns how many objects were made, and how many were dropped as they were invalid. Many that are dropped tell of
// a schema with rules that chance does not meet: hints help.
func (g *Generator) Counts() (made, dropped uint64) { return g.made.Load(), g.dropped.Load() }

// make returns an object, or nil if it is invalid.
func (g *Generator) make(r *rand.Rand) []byte {
	m := newMaker(g, r)
	// As the API server has it: numbers that it reads from JSON, pruned, defaulted.
	obj := decoded(encode(m.root()))
	g.version.Prune(obj)
	g.version.Default(obj)
	errs := g.version.Validate(obj)
	for range 4 {
		if len(errs) == 0 {
			return m.encode(obj)
		}
		for _, err := range errs {
			withoutPath(obj, err.Field)
		}
		g.version.Prune(obj)
		g.version.Default(obj)
		errs = g.version.Validate(obj)
	}
	return nil
}
