package playground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/converters/rules/suggest"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// Laws is what the laws of conversion say about random objects.
type Laws struct {
	Objects   uint64 `json:"objects"`
	Fragments uint64 `json:"fragments"`
	Edits     uint64 `json:"edits"`
	Walks     uint64 `json:"walks"`
	Forgeries uint64 `json:"forgeries"`
	Seed      uint64 `json:"seed"`
	// Violation is the first law that does not hold.
	Violation *Violation `json:"violation,omitempty"`
	// Problem says why objects could not be held to the laws.
	Problem string `json:"problem,omitempty"`
	// Notes are the lines that webhookd fuzz adds.
	Notes string `json:"notes,omitempty"`
}

// A Violation is a law that does not hold, with the smallest object that was found. It says what
// webhookd fuzz says.
type Violation struct {
	Law     string `json:"law"`
	From    string `json:"from"`
	To      string `json:"to"`
	Problem string `json:"problem"`
	// Path is the place that differs in the version At, "" if nothing is compared. Was and Is are
	// JSON texts, and Steps are what was done to the object.
	Path  string `json:"path,omitempty"`
	At    string `json:"at,omitempty"`
	Was   string `json:"was,omitempty"`
	Is    string `json:"is,omitempty"`
	Steps string `json:"steps,omitempty"`
	// Cause and Remedy are empty if nothing is known.
	Cause  string   `json:"cause,omitempty"`
	Remedy string   `json:"remedy,omitempty"`
	Walk   []string `json:"walk,omitempty"`
	Object string   `json:"object"`
	// Again is the command that finds it again.
	Again string `json:"again"`
}

// laws holds random objects of all versions to the laws.
func (v *evaluation) laws(ctx context.Context, gk schema.GroupKind) *Laws {
	var kind *converters.Kind
	for i := range v.set.Kinds {
		if v.set.Kinds[i].GroupKind == gk {
			kind = &v.set.Kinds[i]
		}
	}
	if kind == nil || v.set.BoundKind(gk) == nil {
		return nil
	}
	rules := diagnosis.Of(v.set.BoundKind(gk))
	// The registry prepares a kind.
	if registry, err := v.set.Registry(); err == nil {
		kind = registry.Lookup(gk)
	}
	const reserve = 2 * time.Second // to make a violation smaller
	limited, cancel := context.WithTimeout(ctx, MaxTime-reserve)
	defer cancel()
	suite := hold.Suite{
		Kind: kind, Seed: hold.DefaultSeed, CRD: v.set.CRD(gk), Stored: true, Walks: true, Forgeries: true, Outcomes: true,
		Hints: rules.Hints, Drops: rules.Drops, MayBeAbsent: rules.MayBeAbsent,
	}
	versions := uint64(max(1, len(kind.Versions)))
	stats, err := suite.Fuzz(limited, (v.in.Laws+versions-1)/versions)
	laws := &Laws{
		Objects: stats.Objects, Fragments: stats.Fragments, Edits: stats.Edits, Walks: stats.Walks, Forgeries: stats.Forgeries,
		Seed: suite.Seed, Notes: rules.Notes(&stats),
	}
	violation, ok := errors.AsType[*hold.ViolationError](err)
	switch {
	case ok:
		laws.Violation = violationOf(violation)
		laws.Violation.Cause, laws.Violation.Remedy = rules.Explain(violation)
		laws.Violation.Again = fmt.Sprintf("webhookd fuzz --rules %s --crds %s --kind %s --seed %d --objects %d", rulesFile, crdFile, gk, violation.Seed,
			violation.Index+1)
	case limited.Err() != nil:
		laws.Notes += "note: the time of this page was over; webhookd fuzz has no limit\n"
	case err != nil:
		laws.Problem = err.Error()
	case stats.Objects == 0:
		laws.Problem = "no valid object could be made from the schemas"
	}
	return laws
}

func violationOf(v *hold.ViolationError) *Violation {
	text, err := yamljson.FromJSON(v.Object)
	if err != nil {
		text = v.Object
	}
	out := &Violation{
		Law: string(v.Law), From: v.From, To: v.To, Problem: v.Problem, Path: v.Path, At: v.At, Was: cmp.Or(v.Was, "absent"), Is: cmp.Or(v.Is, "absent"),
		Steps: v.Steps(), Object: string(text),
	}
	if v.Walk != nil {
		out.Walk = v.Walk.Lines()
	}
	return out
}

// suggest drafts rules for each CRD with several versions.
func (v *evaluation) suggest(ctx context.Context) {
	for _, crd := range v.set.CRDs {
		if len(crd.Versions) < 2 {
			v.out.Findings = append(v.out.Findings, problem("crd", "one-version", "nothing to convert, it has one version only: "+crd.Name,
				"add a version to spec.versions"))
			continue
		}
		text, err := suggest.Conversion(ctx, crd, "")
		if err != nil {
			v.out.Findings = append(v.out.Findings, problem("crd", "suggest", err.Error(), ""))
			continue
		}
		if v.out.Suggested != "" {
			v.out.Suggested += "---\n"
		}
		v.out.Suggested += string(text)
	}
}

// random makes the random object that is asked for.
func (v *evaluation) random(gk schema.GroupKind) {
	if v.in.Random == nil {
		return
	}
	version := v.set.CRD(gk).Version(v.in.Random.Version)
	if version == nil || version.Root == nil {
		return
	}
	given := generate.Hints{}
	if k := v.set.BoundKind(gk); k != nil {
		given = hints.Of(k.Conversion)[version.Name]
	}
	g, err := generate.NewGenerator(version, given)
	if err == nil {
		if object := g.Object(v.in.Random.Seed, 0); object != nil {
			var text []byte
			if text, err = yamljson.FromJSON(object); err == nil {
				v.out.Random = string(text)
				return
			}
		}
	}
	message := "no valid object could be made from the schema of " + version.Name
	if err != nil {
		message += ": " + err.Error()
	}
	v.objectProblem(0, message, "")
}
