package check_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
)

//nolint:gochecknoglobals // flags
var (
	firstSeed = flag.Uint64("first-seed", 0, "seed of the first random Conversion")
	seeds     = flag.Uint64("seeds", 60, "how many random Conversions are made; make laws takes 300, and a change to the checker or the engine deserves 20,000")
)

// Random schemas and rules without findings keep all laws, and a converted object has everything
// that the other version requires.
func TestAFileThatPassesCheckLosesNothing(t *testing.T) {
	t.Parallel()
	clean, done := 0, 0
	for seed := *firstSeed; seed < *firstSeed+*seeds && !t.Failed(); seed++ {
		done++
		c := newRandomCase(t, seed)
		if c == nil {
			continue
		}
		clean++
		if problem := c.run(t); problem != "" {
			t.Errorf("seed %d: %.1500s\n%s\n%s", seed, problem, after(c.rules, "hub: v1\n"), after(c.schema, "names:"))
		}
	}
	if clean < done/3 {
		t.Errorf("%d of %d random Conversions pass the check: the test has lost its power", clean, done)
	}
}

func after(text, marker string) string {
	_, rest, _ := strings.Cut(text, marker)
	return rest
}

// A randomCase is a Conversion without findings.
type randomCase struct {
	seed          uint64
	schema, rules string
	crd           *crdschema.CRD
	list          []string // the rules, one by one
}

// newRandomCase returns nil if it could not make a file without findings.
func newRandomCase(t *testing.T, seed uint64) *randomCase {
	t.Helper()
	m := &mutator{r: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // choices that can be repeated
	field, hub := m.versions()
	c := &randomCase{seed: seed}
	c.schema = strings.NewReplacer("NAME", "widget", "FIELD", field.text(), "HUB", hub.text()).Replace(crd)
	crds, err := apiserver.Parse("crd.yaml", []byte(c.schema))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, c.schema)
	}
	c.crd = crds[0]
	m.noise(c.crd)
	mode := m.pick("Error", "Preserve", "Preserve")
	build := func(list []string) int {
		c.rules, c.list = conversionOf(mode, list), list
		_, found := load(t, crds, engine.Options{}, engine.Source{Name: "rules.yaml", Text: []byte(c.rules)})
		return len(finding.Worst(found, finding.Warning))
	}
	// Keep the rules that add no findings.
	var kept []string
	best := build(nil)
	for _, rule := range m.rules {
		if n := build(append(slices.Clip(kept), rule)); n <= best {
			kept, best = append(kept, rule), n
		}
	}
	if build(kept) > 0 {
		return nil
	}
	return c
}

func conversionOf(unmapped string, list []string) string {
	text := strings.ReplaceAll(rules, "NAME", "widget") + "    unmapped: " + unmapped + "\n"
	if len(list) > 0 {
		text += "    rules:\n    - " + strings.Join(list, "\n    - ") + "\n"
	}
	return text
}

// run says what is wrong with the conversions.
func (c *randomCase) run(t *testing.T) string {
	t.Helper()
	set, found := engine.Load(t.Context(), []engine.Source{{Name: "rules.yaml", Text: []byte(c.rules)}}, []*crdschema.CRD{c.crd}, engine.Options{})
	if len(found) > 0 {
		return "the engine has findings: " + found[0].String()
	}
	kind := &set.Kinds()[0]
	suite := hold.Suite{Kind: kind, CRD: c.crd, Seed: c.seed, Drops: hints.Drops(set.Bound().Kinds[0])}
	if _, err := suite.Fuzz(t.Context(), 25); err != nil {
		return err.Error()
	}
	for _, from := range c.crd.Versions {
		generator, err := generate.NewGenerator(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		for index := range uint64(25) {
			object := generator.Object(c.seed, index)
			for _, to := range c.crd.Versions {
				if object == nil || from == to {
					continue
				}
				if err := convertertest.Complete(t.Context(), kind, object, from, to); err != nil {
					return err.Error()
				}
			}
		}
	}
	return ""
}
