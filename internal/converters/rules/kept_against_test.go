package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
)

// againstCases has the cases of `check --against`: rules, the CRD, the earlier versions of both,
// and what users see of objects.
const againstCases = "check/testdata/against"

// A seen is what users see of an object whose rules change.
type seen struct {
	Name   string
	Stored string
	Steps  []map[string]any
}

// ofSeveralKinds reports whether a case has several kinds, which only package check tests.
func ofSeveralKinds(folder os.DirEntry) bool { return strings.HasPrefix(folder.Name(), "shared-") }

// What `check --against` says about kept values is what happens.
func TestWhatAgainstSaysHappens(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(againstCases)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if ofSeveralKinds(folder) {
			continue
		}
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			old, now := againstWorlds(folder.Name())
			var all []seen
			if err := yaml.Unmarshal(fromRoot(t, filepath.Join(filepath.Dir(now.rulesFile), "seen.yaml")), &all); err != nil {
				t.Fatal(err)
			}
			for _, s := range all {
				t.Run(s.Name, func(t *testing.T) {
					row{world: old, steps: s.steps(t, now)}.walk(t, s.Stored)
				})
			}
		})
	}
}

// againstWorlds returns the worlds of a case: that of the old rules, and that of the new ones.
func againstWorlds(name string) (old, now world) {
	path := filepath.Join("internal", "converters", "rules", againstCases, name)
	now = world{rulesFile: filepath.Join(path, "new.yaml"), crdFile: filepath.Join(path, "crd.yaml")}
	old = world{rulesFile: filepath.Join(path, "old.yaml"), crdFile: now.crdFile}
	if _, err := os.Stat(filepath.Join(againstCases, name, "old-crd.yaml")); err == nil {
		old.crdFile = filepath.Join(path, "old-crd.yaml")
	}
	return old, now
}

// steps reads the steps: each is an action, a version, and the members of an object.
func (s *seen) steps(t *testing.T, now world) []step {
	t.Helper()
	var steps []step
	for _, written := range s.Steps {
		for text, members := range written {
			do, version, _ := strings.Cut(text, " ")
			asYAML, err := yaml.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			switch object := string(asYAML); {
			case text == "the rules change":
				steps = append(steps, becomes(now))
			case do == "create":
				steps = append(steps, create(version, object))
			case do == "edit":
				steps = append(steps, edit(version, object))
			case do == "shows":
				steps = append(steps, shows(version, object))
			case text == "keeps nothing":
				steps = append(steps, keepsNothing)
			case strings.HasPrefix(text, "keeps nothing of "):
				steps = append(steps, keepsOf(strings.TrimPrefix(text, "keeps nothing of "), false))
			case strings.HasPrefix(text, "keeps something of "):
				steps = append(steps, keepsOf(strings.TrimPrefix(text, "keeps something of "), true))
			default:
				t.Fatalf("no such step: %s", text)
			}
		}
	}
	return steps
}

// keepsOf reports whether an annotation keeps something of a version.
func keepsOf(version string, want bool) step {
	return func(w *walk) {
		w.t.Helper()
		kept := keptIn(w.stored)
		has := false
		for name := range kept {
			has = has || strings.Contains(name, "/"+version+".")
		}
		if has != want {
			w.t.Fatalf("step %d: kept at %s: %v", w.at, w.storage, kept)
		}
	}
}

// Whatever it does not mention returns as before. A random object that was converted by the old
// rules gets back its kept values from the new ones, except at the paths that are mentioned.
func TestWhatAgainstDoesNotSayDoesNotHappen(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(againstCases)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if ofSeveralKinds(folder) {
			continue
		}
		before, now := againstWorlds(folder.Name())
		old, next := knownOf(t, before), knownOf(t, now)
		if old.api.Name != next.api.Name {
			continue
		}
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			notes := check.Against(before.bound(t), now.bound(t))
			for _, from := range old.webhookd.Versions {
				for _, storage := range old.webhookd.Versions {
					turned := old.webhookd.Hub != next.webhookd.Hub && from != old.webhookd.Hub && storage != old.webhookd.Hub
					// Versions that were converted by way of another one no longer are, and a note
					// about that one says so.
					if from != storage && next.api.Version(from) != nil && next.api.Version(storage) != nil && !turned {
						holdSilence(t, old, next, from, storage, notes)
					}
				}
			}
		})
	}
}

// known is what an API server and webhookd know.
type known struct {
	api      *crdschema.CRD
	webhookd *converters.Kind
}

func knownOf(t *testing.T, w world) known {
	t.Helper()
	return known{w.crd(t), w.kind(t)}
}

func holdSilence(t *testing.T, old, next known, from, storage string, notes []finding.Finding) {
	t.Helper()
	g, err := generate.NewGenerator(old.api.Version(from), nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{t: t, storage: storage}
	for i := range *objects {
		w.api, w.webhookd = old.api, old.webhookd
		w.write(from, asStored(t, g.Object(1, i)))
		stored, before := w.stored, w.read(from)
		w.stored = runtime.DeepCopyJSON(stored)
		delete(childOf(w.stored, "metadata"), "annotations")
		kept := convertertest.ChangedPaths("", childOf(before, "spec"), childOf(w.read(from), "spec"))
		w.api, w.webhookd, w.stored = next.api, next.webhookd, stored
		after := w.read(from)
		for _, path := range convertertest.ChangedPaths("", childOf(before, "spec"), childOf(after, "spec")) {
			if slices.Contains(kept, path) && !slices.ContainsFunc(notes, func(f finding.Finding) bool { return convertertest.IsAbout(f.Message, from, ".spec"+path) }) {
				t.Fatalf(".spec%s of %s changes and is not named: %s\nafter %s\nby way of %s", path, from,
					encoded(t, before), encoded(t, after), encoded(t, w.stored))
			}
		}
	}
}

// bound binds the rules of the world.
func (w world) bound(t *testing.T) *binding.Set {
	t.Helper()
	set, _ := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: w.file(t)}}, []*crdschema.CRD{w.crd(t)}, rules.Options{})
	return set.Bound()
}
