package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/converters"
	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
)

// Random rules change: values that the old rules kept of a place return, unless a note is about it.
func TestWhatAgainstDoesNotSayDoesNotHappen(t *testing.T) {
	t.Parallel()
	compared, noted := 0, 0
	for seed := *firstSeed; seed < *firstSeed+*seeds && !t.Failed(); seed++ {
		c := newRandomCase(t, seed)
		if c == nil {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // choices that can be repeated
		some := func() string {
			var list []string
			for _, i := range r.Perm(len(c.list)) {
				if r.IntN(4) > 0 {
					list = append(list, c.list[i])
				}
			}
			return conversionOf("Preserve", list)
		}
		was, is := some(), some()
		old, now := c.load(t, was), c.load(t, is)
		if old == nil || now == nil {
			continue
		}
		notes := check.Against(old.Bound(), now.Bound())
		compared, noted = compared+1, noted+len(notes)
		e := &exchange{t: t, crd: c.crd, old: &old.Kinds()[0], now: &now.Kinds()[0], notes: notes}
		if problem := e.unreported(seed); problem != "" {
			t.Errorf("seed %d: %.3000s\nold %s\nnew %s\n%s", seed, problem, after(was, "v1beta1\n"), after(is, "v1beta1\n"), after(c.schema, "names:"))
		}
	}
	if !t.Failed() && compared < int(*seeds)/4 || noted < compared/2 {
		t.Errorf("%d pairs of Conversions and %d notes: the test has lost its power", compared, noted)
	}
}

// load returns a set with the rules, or nil if they cannot be used.
func (c *randomCase) load(t *testing.T, rules string) *engine.Set {
	t.Helper()
	set, found := engine.Load(t.Context(), []engine.Source{{Name: "rules.yaml", Text: []byte(rules)}}, []*crdschema.CRD{c.crd}, engine.Options{})
	if len(found) > 0 {
		return nil
	}
	return set
}

// An exchange replaces rules while objects are stored.
type exchange struct {
	t        *testing.T
	crd      *crdschema.CRD
	old, now *converters.Kind
	notes    []finding.Finding
}

// unreported returns a change of a kept value that no note is about, or nothing.
func (e *exchange) unreported(seed uint64) string {
	const objects = 20
	for _, from := range e.crd.Versions {
		g, err := generate.NewGenerator(from, nil)
		if err != nil {
			e.t.Fatal(err)
		}
		for i := range uint64(objects) {
			object := g.Object(seed, i)
			if object == nil || bytes.Contains(object, []byte("null")) { // which few places take, and which is kept without a word
				continue
			}
			for _, stored := range e.crd.Versions {
				if stored == from {
					continue
				}
				there := e.converted(e.old, object, from, stored)
				if there == nil {
					continue
				}
				bare := e.decoded(there)
				delete(bare, "metadata")
				was, is := e.converted(e.old, there, stored, from), e.converted(e.now, there, stored, from)
				before := specOf(e.decoded(was))
				kept := convertertest.ChangedPaths(".spec", before, specOf(e.decoded(e.converted(e.old, e.encoded(bare), stored, from))))
				for _, path := range convertertest.ChangedPaths(".spec", before, specOf(e.decoded(is))) {
					if slices.Contains(kept, path) && !slices.ContainsFunc(e.notes, func(f finding.Finding) bool { return convertertest.IsAbout(f.Message, from.Name, path) }) {
						return fmt.Sprintf("%s of %s (-before +after):\n%.1000s\nthrough %.2000s", path, from.Name,
							cmp.Diff(before, specOf(e.decoded(is))), there)
					}
				}
			}
		}
	}
	return ""
}

// converted returns a converted object as the API server stores it, pruned and defaulted, or nil if
// too much of it would have to be kept.
func (e *exchange) converted(kind *converters.Kind, object []byte, from, to *crdschema.Version) []byte {
	e.t.Helper()
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := kind.Convert(e.t.Context(), obj, from.Name, to.Name); err != nil {
		return nil
	}
	is := e.decoded(obj.Text())
	is["apiVersion"] = kind.Group + "/" + to.Name
	to.Prune(is)
	to.Default(is)
	return e.encoded(is)
}

func (e *exchange) decoded(text []byte) map[string]any {
	e.t.Helper()
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &obj); err != nil {
		e.t.Fatal(err)
	}
	return obj
}

func (e *exchange) encoded(obj map[string]any) []byte {
	e.t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		e.t.Fatal(err)
	}
	return text
}

func specOf(obj map[string]any) any { return obj["spec"] }
