package hold

import (
	"context"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// forgeries is [WellFormed] for what the object is at a version, with annotations that someone else
// wrote.
func (t *subject) forgeries(version string) *ViolationError {
	t.count(func(c *Stats) { c.Forgeries++ })
	state := t.View(version, t.results[version])
	t.forge(t.ctx, t.rand, state, version, t.version)
	forged, v := t.subject(t.ctx, tree.Encode(state))
	if v != nil || forged.class == classInvalid {
		return v
	}
	return forged.wellFormed(t.version)
}

// wellFormed is [WellFormed]: whatever the object keeps, its conversion fails only if it does
// without, and is as well formed.
func (t *subject) wellFormed(to string) *ViolationError {
	clean, err := t.convert(t.ctx, tree.Encode(tree.Visible(tree.Read(t.object))), t.version, to)
	if err != nil || t.refused || malformation(t, to, clean) != "" {
		return nil //nolint:nilerr // L7, L6
	}
	result, err := t.convert(t.ctx, t.object, t.version, to)
	if err != nil {
		return t.violation(WellFormed, to, "%v, without kept values %s", err, clean)
	}
	if problem := malformation(t, to, result); problem != "" {
		return t.violation(WellFormed, to, "%s: %s, without kept values %s", problem, result, clean)
	}
	return nil
}

// malformation says what is structurally wrong with an object of a version, or nothing. What the
// API server removes by itself does no harm: a kept value may have fields that only a newer schema
// knows (L12).
func malformation(t *subject, version string, object []byte) string {
	var read map[string]any
	if err := utiljson.Unmarshal(object, &read); err != nil {
		return "the API server cannot read it, " + err.Error()
	}
	if path := generate.BadEntry(read); path != "" {
		return "the API server refuses " + path
	}
	for _, problem := range t.problems(version, read) {
		if isMistyped(problem) || problem.Type == field.ErrorTypeDuplicate && len(t.Versions) == 2 {
			return problem.Error()
		}
	}
	return ""
}

// problems are those of an object with the schema of a version, after pruning and defaulting.
func (s *Runner) problems(version string, object map[string]any) field.ErrorList {
	s.Admit(version, object)
	return s.Schema(version).Validate(object)
}

// isMistyped reports whether a value is of another type than its schema says.
func isMistyped(problem *field.Error) bool {
	return problem.Type == field.ErrorTypeTypeInvalid && ofAnotherType.MatchString(problem.Detail)
}

// ofAnotherType matches what the API server says of a value of another type, but not of one of
// another format.
var ofAnotherType = regexp.MustCompile(`must be of type (object|array|string|integer|number|boolean|null)\b`)

// forge gives an object at a version, which is to be converted to another one, annotations with
// webhookd's names: its own or those of another object, changed; some that follow the format's
// grammar; noise. Most are of the other version.
func (s *Runner) forge(ctx context.Context, r *rand.Rand, object map[string]any, version, to string) {
	if r.IntN(4) == 0 {
		s.stale(ctx, r, object, version, to)
	}
	for range 1 + r.IntN(4) {
		kept := tree.Kept(object, "")
		of := to
		if r.IntN(8) == 0 {
			of = generate.Pick(r, s.Versions...)
		}
		switch n := r.IntN(8); {
		case n < 4 && len(kept) > 0:
			own := slices.Sorted(maps.Keys(kept))
			tree.Annotate(object, map[string]string{generate.Pick(r, own...): generate.MutatedText(r, kept[generate.Pick(r, own...)])})
		case n < 7 && len(s.pools[of]) > 0:
			generate.AddForged(r, object, generate.Pick(r, s.pools[of]...), of)
		default:
			generate.AddMalformed(r, object, of, of)
		}
	}
}
