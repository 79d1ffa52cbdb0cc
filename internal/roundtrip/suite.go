package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// DefaultSeed is the seed of Laws: a run in CI is the same every time.
const DefaultSeed = 1

// Laws holds kind to all laws on the samples, which are objects of any of its versions, on all their fragments, and on
// 250 random variants of each. The error says which law does not hold, on the smallest object that was found, and the
// seed. It is what the test of a converter calls.
func Laws(ctx context.Context, kind *converters.Kind, samples ...[]byte) error {
	s := Suite{Kind: kind, Seed: DefaultSeed}
	for _, objects := range []iter.Seq[[]byte]{Samples(samples...), Fragments(samples...), Variants(s.Seed, 250, samples...)} {
		if err := s.Check(ctx, objects); err != nil {
			return err
		}
	}
	return nil
}

// A Suite is the laws of one kind. It is safe for concurrent use.
type Suite struct {
	Kind *converters.Kind
	// Seed is that of all random choices: which edits L2 makes.
	Seed uint64
	// Edits is the number of edits that L2 makes on each object in each direction; 0 stands for 1.
	Edits int

	// CRD has the schemas of the versions. With it, objects are equal if they are after the API server's pruning and
	// defaulting, and edits are parts of other valid objects. Of versions that the CRD does not have, nothing is said.
	// Nil is no schemas: then objects are compared as they are, with number literals as text.
	CRD *crdschema.CRD
	// Hints are values that Fuzz should try, by version.
	Hints map[string]Hints
	// Drops are the places that conversions lose on purpose: no law looks at them.
	Drops []Drop
	// Stored has the way back done twice: from what the conversion gave, and from that pruned and defaulted, as the API server
	// stores it in between, with numbers as it spells them. Defaults that the versions do not share are then no secret to the way
	// back.
	Stored bool
	// Complete holds the conversion of valid objects to what the checker of rules promises besides losslessness: the result has
	// all fields that its version requires, and every value is of a type and an enum of its schema.
	Complete bool
	// Walks has Fuzz take walks with its objects (L10), and Forgeries write annotations of webhookd's names into them (L13).
	Walks, Forgeries bool
	// Parts holds kept values to L15: each leaf is kept by itself.
	Parts bool
	// Next is what the kind and its CRD grow to: L11 is held, and walks go on with it. Nil is nothing.
	Next *Generation
	// Gained are fields that CRD has and the kind's own copy of it has not: L12 is held, and L6 is not.
	Gained []Gain
	// Progress, if set, is called after each object of Fuzz, by one goroutine at a time.
	Progress func(Stats)
}

// A Drop is a place whose values the conversion from one version to another loses on purpose. The path is one of the
// version From, as conversion rules write paths; an empty From or To is any version. What is lost on the way to the hub is
// also lost on the way to the versions behind it.
type Drop struct{ From, To, Path string }

// Check holds the kind to all laws on each object. It stops at the first object on which one does not hold, makes that
// smaller, and returns a *ViolationError.
func (s Suite) Check(ctx context.Context, objects iter.Seq[[]byte]) error {
	b, err := s.prepare()
	if err != nil {
		return err
	}
	index := uint64(0)
	for object := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if found := b.checkWithEdits(ctx, object, b.random(index, "")); found != nil {
			return b.shrink(ctx, found)
		}
		index++
	}
	return nil
}

// poolSize is the number of objects of each version that edits take their parts from.
const poolSize = 64

// A suite is a Suite that is ready to hold objects to its laws. It is safe for concurrent use.
type suite struct {
	Suite
	generators map[string]*Generator
	pools      map[string][]map[string]any
	drops      map[direction][]place
	stats      counters
	documents  documents
	next       *suite
}

type direction struct{ from, to string }

func (s Suite) prepare() (*suite, error) {
	b := &suite{
		Suite: s, generators: map[string]*Generator{}, pools: map[string][]map[string]any{}, drops: map[direction][]place{},
	}
	problems := b.readDrops()
	for _, version := range b.versions() {
		v := b.schema(version)
		if v == nil {
			continue
		}
		if v.Root == nil {
			return nil, fmt.Errorf("version without a schema: %s", version)
		}
		g, err := NewGenerator(v, s.Hints[version])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		b.generators[version] = g
		for index := range uint64(poolSize) {
			if obj := g.Object(^s.Seed, index); obj != nil {
				b.pools[version] = append(b.pools[version], b.view(version, obj))
			}
		}
	}
	if s.Next != nil {
		var err error
		b.next, err = Suite{Kind: s.Next.Kind, CRD: s.Next.CRD, Seed: s.Seed, Hints: s.Hints, Drops: s.Drops}.prepare()
		problems = append(problems, err)
	}
	return b, errors.Join(problems...)
}

// versions are those of the kind that something is said of.
func (s *suite) versions() []string {
	if s.CRD == nil {
		return s.Kind.Versions
	}
	var versions []string
	for _, version := range s.Kind.Versions {
		if s.CRD.Version(version) != nil {
			versions = append(versions, version)
		}
	}
	return versions
}

// schema returns the schema of a version, or nil for a suite without schemas.
func (s *suite) schema(version string) *crdschema.Version {
	if s.CRD == nil {
		return nil
	}
	return s.CRD.Version(version)
}

func (s *suite) readDrops() []error {
	var problems []error
	for _, drop := range s.Drops {
		p, err := parsePlace(drop.Path)
		if err != nil {
			problems = append(problems, err)
		}
		for _, from := range s.versions() {
			for _, to := range s.versions() {
				if (drop.From == "" || drop.From == from) && (drop.To == "" || drop.To == to || drop.To == s.Kind.Hub) {
					s.drops[direction{from, to}] = append(s.drops[direction{from, to}], p)
				}
			}
		}
	}
	return problems
}

// read decodes an object: as the API server does, or with number literals for a suite without schemas.
func (s *suite) read(object []byte) map[string]any {
	if s.CRD != nil {
		return decoded(object)
	}
	m, _ := decode(object).(map[string]any)
	return m
}

// view returns an object as the API server has it: decoded, pruned and defaulted.
func (s *suite) view(version string, object []byte) map[string]any {
	v := s.read(object)
	s.admit(version, v)
	return v
}

// admit prunes and defaults an object.
func (s *suite) admit(version string, object map[string]any) {
	if v := s.schema(version); v != nil {
		v.Prune(object)
		v.Default(object)
	}
}

// random returns the source of the choices for one object.
func (s *suite) random(index uint64, version string) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed^hash(version), index)) //nolint:gosec // choices that can be repeated
}

func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(s) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
