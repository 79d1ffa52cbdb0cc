package roundtrip

import (
	"context"
	"math/rand/v2"
)

// A Shaper holds a kind to the laws on objects that somebody else chooses: a fuzz target of Go, which looks for new ways
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
	if found := s.suite.checkWithEdits(ctx, made, chosenBy(edits)); found != nil {
		return s.suite.shrink(ctx, found)
	}
	return nil
}

// Forge holds the kind to L13 on what an object of a version becomes at another one: with annotations by the choices of the second
// text, and another one whose name begins as those of the version do. The error is a *ViolationError.
func (s *Shaper) Forge(ctx context.Context, version, to, object, forgery, name, text string) error {
	made := s.suite.generators[version].make(chosenBy(object))
	there, err := s.suite.convert(ctx, made, version, to)
	if made == nil || err != nil {
		return nil //nolint:nilerr // L7
	}
	state := s.suite.view(to, there)
	s.suite.forge(chosenBy(forgery), state, version)
	if name = keptPrefix + version + name; name != keptPrefix+version {
		annotate(state, map[string]string{name: text})
	}
	t, found := s.suite.subject(ctx, encode(state))
	if found == nil && t.class != wild {
		found = t.wellFormed(version)
	}
	if found != nil {
		return s.suite.shrink(ctx, found)
	}
	return nil
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
