package roundtrip

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
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
	// defaulting, edits are parts of other valid objects, and L3 and L6 are held as well. Of versions that the CRD does not
	// have, nothing is said. Nil is no schemas: then objects are compared as they are.
	CRD *crdschema.CRD
	// Hints are values that Fuzz should try, by version.
	Hints map[string]Hints
	// Drops are the places that conversions lose on purpose: L1 and L2 do not look at them.
	Drops []Drop
	// Stored has the way back done twice: from what the conversion gave, and from that pruned and defaulted, as the API server
	// stores it in between, with numbers as it spells them. Defaults that the versions do not share are then no secret to the way
	// back.
	Stored bool
	// Complete holds the conversion of valid objects to what the checker of rules promises besides losslessness: the result has
	// all fields that its version requires, and every value is of a type and an enum of its schema.
	Complete bool
	// Progress, if set, is called after each object of Fuzz, by one goroutine at a time.
	Progress func(Stats)
}

// A Drop is a place whose values the conversion from one version to another loses on purpose. The path is one of the
// version From, as conversion rules write paths; an empty From or To is any version. What is lost on the way to the hub is
// also lost on the way to the versions behind it.
type Drop struct{ From, To, Path string }

// A ViolationError is a law that does not hold. Its message quotes the object, so it is for the author of a converter and not
// for a server's log.
type ViolationError struct {
	// Law names the law, From and To the versions.
	Law, From, To string
	// Problem says what happened.
	Problem string
	// Path is the first place that differs, in the object's own version for L1 and L2 and else in the other one; Was and Is
	// are the JSON texts of what should be there and what is, "" for absent. Of suites without schemas, all three are empty.
	Path, Was, Is string
	// Object is the object, made as small as the violation allows.
	Object []byte
	// Seed is the suite's. Index is that of the object in a run of Fuzz.
	Seed, Index uint64
}

// Error implements error.
func (v *ViolationError) Error() string {
	return fmt.Sprintf("law %s does not hold: %s -> %s: %s\nobject: %s\nseed: %d", v.Law, v.From, v.To, v.Problem, v.Object, v.Seed)
}

// Check holds the kind to all laws on each object. It stops at the first object on which one does not hold, makes that
// smaller, and returns a *ViolationError.
func (s Suite) Check(ctx context.Context, objects iter.Seq[[]byte]) error {
	if s.CRD != nil {
		return s.checkBySchema(ctx, objects)
	}
	for object := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if found := s.check(ctx, object); found != nil {
			return s.shrink(ctx, found)
		}
	}
	return nil
}

// shrink leaves parts out for as long as the same law is violated.
func (s Suite) shrink(ctx context.Context, found *ViolationError) *ViolationError {
	for smaller := true; smaller; {
		smaller = false
		for object := range without(found.Object) {
			if next := s.check(ctx, object); next != nil && next.Law == found.Law {
				found, smaller = next, true
				break
			}
		}
	}
	return found
}

// check returns the first violation on one object.
func (s Suite) check(ctx context.Context, object []byte) *ViolationError {
	c := checker{ctx: ctx, kind: s.Kind, object: object, seed: s.Seed, documents: &documents{}}
	var err error
	if c.group, c.from, err = versionOf(object); err != nil {
		return c.violation("L7 total", "", "%v", err)
	}
	source := bytes.Clone(object)
	if v := c.identity(); v != nil {
		return v
	}
	for _, to := range s.Kind.Versions {
		if to == c.from {
			continue
		}
		if v := c.laws(to, max(1, s.Edits)); v != nil {
			return v
		}
	}
	if !bytes.Equal(source, object) {
		return c.violation("source", c.from, "the converter wrote into the text that it was given")
	}
	return nil
}

// A checker is the laws on one object.
type checker struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call
	kind   *converters.Kind
	object []byte
	group  string
	from   string
	seed   uint64

	documents *documents
}

func (c *checker) violation(law, to, format string, args ...any) *ViolationError {
	return &ViolationError{Law: law, From: c.from, To: to, Problem: fmt.Sprintf(format, args...), Object: c.object, Seed: c.seed}
}

// convert does what the server does with one object: convert it and set its apiVersion.
func (c *checker) convert(object []byte, from, to string) ([]byte, error) {
	obj, done, err := c.documents.open(object)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := c.kind.Convert(c.ctx, obj, from, to); err != nil {
		return nil, err
	}
	if from != to {
		if err := obj.Set(jsondoc.StringValue(c.group+"/"+to), "apiVersion"); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(obj.Text()), nil
}

// identity is L5.
func (c *checker) identity() *ViolationError {
	same, err := c.convert(c.object, c.from, c.from)
	if err != nil || !bytes.Equal(same, c.object) {
		return c.violation("L5 identity", c.from, "got %s (%v)", same, err)
	}
	return nil
}

// laws checks all that is said of a conversion to another version.
func (c *checker) laws(to string, edits int) *ViolationError {
	there, err := c.convert(c.object, c.from, to)
	if err != nil {
		return c.violation("L7 total", to, "%v", err)
	}
	if again, err := c.convert(c.object, c.from, to); err != nil || !bytes.Equal(there, again) {
		return c.violation("L8 deterministic", to, "got %s, then %s (%v)", there, again, err)
	}
	for _, law := range []func(to string, there []byte) *ViolationError{c.metadata, c.roundTrip, c.hub} {
		if v := law(to, there); v != nil {
			return v
		}
	}
	for i := range edits {
		r := rand.New(rand.NewPCG(c.seed, uint64(i))) //nolint:gosec // choices that can be repeated
		if v := c.edit(to, there, r); v != nil {
			return v
		}
	}
	return nil
}

// roundTrip is L1. A stash that the object brought along is no part of what it says.
func (c *checker) roundTrip(to string, there []byte) *ViolationError {
	back, err := c.convert(there, to, c.from)
	if err != nil {
		return c.violation("L7 total", to, "the way back: %v: %s", err, there)
	}
	brought := hasStash(c.object)
	if diff := differ(normal(c.object, brought), normal(back, brought)); diff != "" {
		return c.violation("L1 round trip", to, "%s differs: there %s, back %s", diff, there, back)
	}
	return nil
}

// edit is L2: an object at the other version, edited, with the stash that it has and with others.
func (c *checker) edit(to string, there []byte, r *rand.Rand) *ViolationError {
	edited := vary(r, there, 1+r.IntN(2), false)
	for _, y := range [][]byte{edited, withStash(r, edited, c.from), withStash(r, edited, to)} {
		back, err := c.convert(y, to, c.from)
		if err != nil {
			return c.violation("L7 total", to, "the way back of an edited object: %v: %s", err, y)
		}
		again, err := c.convert(back, c.from, to)
		if err != nil {
			return c.violation("L7 total", to, "after the way back of an edited object: %v: %s", err, back)
		}
		if diff := differ(normal(y, true), normal(again, true)); diff != "" {
			return c.violation("L2 edit", to, "%s differs: edited %s, back %s, again %s", diff, y, back, again)
		}
	}
	return nil
}

// hub is L4.
func (c *checker) hub(to string, there []byte) *ViolationError {
	hub, err := c.convert(c.object, c.from, c.kind.Hub)
	if err != nil {
		return c.violation("L7 total", c.kind.Hub, "%v", err)
	}
	over, err := c.convert(hub, c.kind.Hub, to)
	if err != nil {
		return c.violation("L7 total", to, "from the hub: %v: %s", err, hub)
	}
	if diff := differ(normal(there, false), normal(over, false)); diff != "" {
		return c.violation("L4 hub", to, "%s differs: in one step %s, hub %s, from there %s", diff, there, hub, over)
	}
	return nil
}

// metadata is invariant I4.
func (c *checker) metadata(to string, there []byte) *ViolationError {
	was, now := metadataTexts(c.object), metadataTexts(there)
	for name := range was {
		if was[name] != now[name] {
			return c.violation("metadata", to, "metadata.%s is %s, was %s", name, now[name], was[name])
		}
		delete(now, name)
	}
	for name := range now {
		return c.violation("metadata", to, "metadata.%s is new", name)
	}
	return nil
}
