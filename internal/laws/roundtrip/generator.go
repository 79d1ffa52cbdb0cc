package roundtrip

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Generator makes random objects of a version: sparse, full, zero-valued, huge and ordinary ones.
// Each is what the API server would have: pruned and defaulted by its own code, and valid. It is
// safe for concurrent use.
type Generator struct {
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
	g := &Generator{version: v, counted: production{different: map[uint64]bool{}, causes: refusals{}, removed: refusals{}}}
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
func (g *Generator) object(seed, index uint64) ([]byte, making) {
	var m making
	for try := range uint64(5) {
		var obj []byte
		if obj, m = g.make(randomBy(seed^hash(g.version.Name)+try<<56, index)); obj != nil {
			return obj, m
		}
		g.dropped.Add(1)
	}
	return nil, m
}

// Dropped returns how many objects were made and dropped because they were invalid. If there are
// many, the schema has rules that chance does not meet, and hints help.
func (g *Generator) Dropped() uint64 { return g.dropped.Load() }

// make returns an object, or nil if it is invalid.
func (g *Generator) make(r *rand.Rand) ([]byte, making) {
	m := newMaker(g, r)
	l := limitsOf(r, g.version.Root, nil)
	obj := decoded(encode(m.object(g.version.Root, &l)))
	made := making{removed: map[[2]string]bool{}}
	reasons := map[string][2]string{} // by what was removed
	for range 5 {
		if !made.repair(g.version, obj, reasons) {
			continue
		}
		made.content = hash(string(encode(withoutIdentity(obj))))
		if r.IntN(2) == 0 {
			return must(json.Marshal(obj)), made // with HTML's characters escaped, as the API server does
		}
		return encode(obj), made
	}
	return nil, made
}

// removePath removes from an object what a path of the API server's messages leads to
// (a.b[0].c[key]) or, if that is not there, the nearest thing around it that is. It returns the
// plain path of what it removed, "" if that is nothing. The messages do not quote names with dots:
// the longest match is the one.
func removePath(object any, path string) string {
	path = plainPath(path)
	var found part
	longest := ""
	for _, p := range parts(object) {
		var spelled strings.Builder
		for _, step := range p.path {
			fmt.Fprintf(&spelled, ".%v", step)
		}
		text := plainPath(spelled.String()[1:])
		if (text == path || strings.HasPrefix(path, text+".")) && len(text) >= len(longest) {
			found, longest = p, text
		}
	}
	if found.remove != nil {
		found.remove()
	}
	return longest
}

// plainPath returns a path of the API server's messages without brackets.
func plainPath(path string) string { return strings.NewReplacer("[", ".", "]", "").Replace(path) }
