package generate

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Large is an integer that a float64 cannot hold.
const Large = int64(1)<<53 + 1

// A Generator makes random objects of a version: sparse, full, zero-valued, huge and ordinary ones.
// Each is what the API server would have: pruned and defaulted by its own code, and valid. It is
// safe for concurrent use.
type Generator struct {
	// Small keeps integers below [Large], where the schema allows that. It is set before the first
	// object is made.
	Small bool

	version *crdschema.Version
	// hints are values to try, and names those of entries of maps and of unknown fields, with
	// values to try.
	hints    map[*crdschema.Node][]any
	names    map[*crdschema.Node]map[string][]any
	patterns sync.Map // by text, a *pattern
	dropped  atomic.Uint64

	lock    sync.Mutex
	counted production
}

// NewGenerator returns a generator of objects of a version. It fails if it cannot read a hint.
func NewGenerator(v *crdschema.Version, hints Hints) (*Generator, error) {
	g := &Generator{version: v, counted: production{different: map[uint64]bool{}, causes: Refusals{}, removed: Refusals{}}}
	err := g.readHints(hints)
	return g, err
}

// Object returns the object of a seed and an index, always the same. It tries five times, and
// returns nil if none of the objects is valid.
func (g *Generator) Object(seed, index uint64) []byte {
	object, _ := g.object(seed, index)
	return object
}

// object also returns what happened to the object, or to the last try.
func (g *Generator) object(seed, index uint64) ([]byte, attempt) {
	var m attempt
	for try := range uint64(5) {
		var obj []byte
		if obj, m = g.make(Random(seed^Hash(g.version.Name)+try<<56, index)); obj != nil {
			return obj, m
		}
		g.dropped.Add(1)
	}
	return nil, m
}

// Dropped returns how many objects were made and dropped because they were invalid. If there are
// many, the schema has rules that chance does not meet, and hints help.
func (g *Generator) Dropped() uint64 { return g.dropped.Load() }

// Make returns an object by random choices, or nil if it is invalid.
func (g *Generator) Make(r *rand.Rand) []byte {
	object, _ := g.make(r)
	return object
}

func (g *Generator) make(r *rand.Rand) ([]byte, attempt) {
	m := newBuilder(g, r)
	l := limitsOf(r, g.version.Root, nil)
	obj := tree.Read(tree.Encode(m.object(g.version.Root, &l)))
	made := attempt{removed: map[Reason]bool{}}
	reasons := map[string]Reason{} // by what was removed
	for range 5 {
		if !made.repair(g.version, obj, reasons) {
			continue
		}
		made.content = Hash(string(tree.Encode(tree.WithoutIdentity(obj))))
		if r.IntN(2) == 0 {
			return tree.Must(json.Marshal(obj)), made // with HTML's characters escaped, as the API server does
		}
		return tree.Encode(obj), made
	}
	return nil, made
}

// Hash returns a digest, to make seeds of texts.
func Hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// Pick returns one of several.
func Pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// Random returns a source of choices that can be repeated.
func Random(seed, index uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, index)) } //nolint:gosec // not for secrets
