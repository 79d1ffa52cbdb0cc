package hold

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// DefaultSeed is the seed of tests: a run in CI is the same every time.
const DefaultSeed = 1

// A Suite is the laws of one kind. It is safe for concurrent use.
type Suite struct {
	Kind *converters.Kind
	// Remote converts in place of the Kind, whose names count. Only Score holds it to laws.
	Remote Remote
	// Seed is that of all random choices: which edits L2 makes.
	Seed uint64

	// CRD has the schemas of the versions. Objects are equal if they are after the API server's
	// pruning and defaulting, and edits are parts of other valid objects. Versions that the CRD
	// does not have are left out.
	CRD *crdschema.CRD
	// Hints are values that Fuzz should try, by version.
	Hints map[string]generate.Hints
	// Drops are the places that conversions lose on purpose: no law looks at them.
	Drops []Drop
	// Stored does the reverse conversion twice: of what the conversion gave, and of that pruned and
	// defaulted, as the API server stores it in between, with numbers as it spells them. So it
	// finds defaults that the versions do not share.
	Stored bool
	// Walks makes Fuzz take walks with its objects (L10), and Forgeries write annotations with
	// webhookd's names into them (L13).
	Walks, Forgeries bool
	// Outcomes makes Fuzz count the valid objects that become invalid ones. No law forbids that,
	// but the API server refuses the next write of such an object.
	Outcomes bool
	// MayBeAbsent reports whether a place that the version to requires may stay absent in an object
	// that was converted from another version: Outcomes does not count that. It may be nil, and
	// must be safe for concurrent use.
	MayBeAbsent func(from, to, path string) bool
	// Like is a kind that converts valid objects to the same, apart from what either keeps. Objects
	// that it cannot convert are not compared.
	Like *converters.Kind
	// Progress, if set, is called after each object of Fuzz, by one goroutine at a time.
	Progress func(Stats)
}

// Check holds the kind to all laws on each object. It stops at the first object that violates one,
// makes that smaller, and returns a *ViolationError.
func (s Suite) Check(ctx context.Context, objects iter.Seq[[]byte]) error {
	b, err := s.Prepare()
	if err != nil {
		return err
	}
	index := uint64(0)
	for object := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.Check(ctx, object, b.random(index, "")); err != nil {
			return err
		}
		index++
	}
	return nil
}

// poolSize is the number of objects of each version that edits take their parts from.
const poolSize = 64

// A Runner is a Suite that is ready to hold objects to its laws. It is safe for concurrent use.
type Runner struct {
	Suite
	*Resource

	table      []Row
	generators map[string]*generate.Generator
	pools      map[string][]map[string]any
	answers    *Resource // of Like

	lock     sync.Mutex
	stats    Stats
	rejected map[direction]*rejected
}

// Prepare returns a Runner. It fails without a CRD, for a version without a schema, and if it
// cannot read a drop or a hint.
func (s Suite) Prepare() (*Runner, error) {
	if s.CRD == nil {
		return nil, errors.New("no schemas to make objects from, set CRD")
	}
	b := &Runner{Suite: s, table: Table(), generators: map[string]*generate.Generator{}, pools: map[string][]map[string]any{}, rejected: map[direction]*rejected{}}
	var err error
	b.Resource, err = NewResource(s.Kind, s.Remote, s.CRD, s.Drops)
	problems := []error{err}
	if s.Like != nil {
		b.answers, err = NewResource(s.Like, nil, s.CRD, nil)
		problems = append(problems, err)
	}
	for _, version := range b.Versions {
		v := b.Schema(version)
		if v.Root == nil {
			return nil, fmt.Errorf("version without a schema: %s", version)
		}
		g, err := generate.NewGenerator(v, s.Hints[version])
		problems = append(problems, err)
		g.Small = s.Remote != nil
		b.generators[version] = g
		for index := range uint64(poolSize) {
			if index == poolSize/4 && len(b.pools[version]) == 0 {
				break // chance does not meet the schema
			}
			if obj := g.Object(^s.Seed, index); obj != nil {
				b.pools[version] = append(b.pools[version], b.View(version, obj))
			}
		}
	}
	return b, errors.Join(problems...)
}

// random returns the source of the choices for one object.
func (s *Runner) random(index uint64, version string) *rand.Rand {
	return generate.Random(s.Seed^generate.Hash(version), index)
}
