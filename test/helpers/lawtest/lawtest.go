// Package lawtest holds kinds to the laws on objects that tests choose.
package lawtest

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// Shaper returns a function that holds a kind to all laws on an object that a fuzz target chooses:
// an object of a version, by the bytes of one text, and edits of what it becomes, by those of
// another. The suite needs schemas. The error of the function is a *hold.ViolationError. It is safe
// for concurrent use.
func Shaper(tb testing.TB, s *hold.Suite) func(ctx context.Context, version, object, edits string) error {
	tb.Helper()
	runner, err := s.Prepare()
	if err != nil {
		tb.Fatal(err)
	}
	generators := map[string]*generate.Generator{}
	for _, version := range runner.Versions {
		if generators[version], err = generate.NewGenerator(s.CRD.Version(version), s.Hints[version]); err != nil {
			tb.Fatal(err)
		}
	}
	return func(ctx context.Context, version, object, edits string) error {
		if made := generators[version].Make(chosenBy(object)); made != nil {
			return runner.Check(ctx, made, chosenBy(edits))
		}
		return nil
	}
}

// Hold holds a kind to all laws on samples, on their fragments and on random variants. Each comes
// back as it is spelt: with the text of its numbers, with nulls and unknown fields.
func Hold(ctx context.Context, s *hold.Suite, samples ...[]byte) error {
	r, err := hold.NewResource(s.Kind, nil, s.CRD, nil)
	if err != nil {
		return err
	}
	for _, objects := range []iter.Seq[[]byte]{slices.Values(samples), generate.Fragments(samples...), Variants(s.Seed, 250, samples...)} {
		if err := s.Check(ctx, objects); err != nil {
			return err
		}
		for object := range objects {
			version, _ := tree.VersionOf(object)
			for _, to := range r.Others(version) {
				there, err := r.Convert(ctx, object, version, to)
				if err != nil {
					return err
				}
				back, err := r.Convert(ctx, there, to, version)
				if err != nil {
					return err
				}
				if diff := tree.Difference(literal(object), literal(back), ""); diff.Path != "" {
					return fmt.Errorf("%s differs: %s, back %s", diff.Path, object, back)
				}
			}
		}
	}
	return nil
}

func literal(text []byte) map[string]any {
	object, _ := tree.Literal(text).(map[string]any)
	return tree.Tidy(object)
}

// choices is a source of random numbers: the bytes of a text, and always the same numbers after its
// end.
type choices struct {
	text string
	rand.PCG
}

func chosenBy(text string) *rand.Rand { return rand.New(&choices{text: text}) } //nolint:gosec // choices that can be repeated

// Uint64 implements rand.Source. It repeats the byte, as callers look at other bits for other
// ranges.
func (c *choices) Uint64() uint64 {
	if c.text == "" {
		return c.PCG.Uint64()
	}
	n := uint64(c.text[0]) * 0x0101010101010101
	c.text = c.text[1:]
	return n
}

// Variants yields count random variants of each object: values changed within their type, parts
// left out or set to null, unknown fields, labels and annotations added. The same seed gives the
// same variants.
func Variants(seed uint64, count int, objects ...[]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n, object := range objects {
			for i := range count {
				r := generate.Random(seed, uint64(n)<<32|uint64(i))
				if !yield(vary(r, object, 1+r.IntN(5))) {
					return
				}
			}
		}
	}
}

// vary returns object with some random changes. Of metadata only labels and annotations change.
func vary(r *rand.Rand, object []byte, changes int) []byte {
	root := tree.Literal(object)
	for range changes {
		var choice []tree.Part
		for _, p := range tree.Parts(root) {
			if !p.IsMeta() {
				choice = append(choice, p)
			}
		}
		n := r.IntN(10)
		if n == 0 || len(choice) == 0 {
			addUnknown(r, root, choice)
			continue
		}
		switch p := choice[r.IntN(len(choice))]; n {
		case 1:
			p.Remove()
		case 2:
			p.Set(nil)
		default:
			p.Set(generate.MutatedValue(r, p.Value))
		}
	}
	return tree.Encode(root)
}

// addUnknown adds a field that no version has, a label or an annotation.
func addUnknown(r *rand.Rand, root any, parts []tree.Part) {
	object, ok := root.(map[string]any)
	if !ok {
		return
	}
	if meta, ok := object["metadata"].(map[string]any); ok && r.IntN(3) == 0 {
		tree.Child(meta, generate.Pick(r, "labels", "annotations"))["example.com/x"+strconv.Itoa(r.IntN(9))] = generate.Text(r)
		return
	}
	homes := []map[string]any{object}
	for _, p := range parts {
		if home, ok := p.Value.(map[string]any); ok {
			homes = append(homes, home)
		}
	}
	homes[r.IntN(len(homes))]["unknown"+strconv.Itoa(r.IntN(9))] = tree.Literal([]byte(generate.Pick(r,
		`"x"`, "9007199254740993", "1.10", "1e21", "false", "null", "[]", "{}", `[1,{"a":null}]`, `{"b":"<","a":[""]}`)))
}
