package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// againstCases has the cases of `check --against`: rules, the CRD, those before, and what is seen of objects.
const againstCases = "check/testdata/against"

// A seen is what users see of an object whose rules change.
type seen struct {
	Name   string
	Stored string
	Steps  []map[string]any
}

// What `check --against` says of kept values is what happens.
func TestWhatAgainstSaysHappens(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(againstCases)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("internal", "converters", "rules", againstCases, folder.Name())
			now := world{rulesFile: filepath.Join(path, "new.yaml"), crdFile: filepath.Join(path, "crd.yaml")}
			old := world{rulesFile: filepath.Join(path, "old.yaml"), crdFile: now.crdFile}
			if _, err := os.Stat(filepath.Join(againstCases, folder.Name(), "old-crd.yaml")); err == nil {
				old.crdFile = filepath.Join(path, "old-crd.yaml")
			}
			var all []seen
			if err := yaml.Unmarshal(fromRoot(t, filepath.Join(path, "seen.yaml")), &all); err != nil {
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

// steps reads the steps: each is what is done, a version, and the members of an object.
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

// keepsOf says whether there is an annotation that keeps something of a version.
func keepsOf(version string, want bool) step {
	return func(w *walk) {
		w.t.Helper()
		kept := keptIn(w.stored)
		has := false
		for name := range kept {
			has = has || strings.Contains(name, "/"+version+".")
		}
		if has != want {
			w.t.Fatal(fmt.Sprintf("step %d: kept at %s: %v", w.at, w.storage, kept))
		}
	}
}
