package generate

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Walk is what happens to one object on an API server: it is created, and steps follow. After
// each step, what was written last is read as it was written (L1, L2), and no version hides it
// (L10).
type Walk struct {
	// Object is created, at its version; Storage is the version that the API server stores it at
	// first.
	Object  []byte
	Storage string
	Steps   []Step
}

// A Step is a write at a version, with changes or without. With Storage, the API server stores
// another version from then on.
type Step struct {
	Version string
	Changes []Change
	Storage string
}

// Lines describes the walk, a line for each step.
func (w *Walk) Lines() []string {
	version, _ := tree.VersionOf(w.Object)
	lines := append(make([]string, 0, 1+len(w.Steps)), fmt.Sprintf("create at %s, stored at %s", version, w.Storage))
	for _, step := range w.Steps {
		lines = append(lines, step.String())
	}
	return lines
}

// String describes the step.
func (s Step) String() string {
	switch {
	case s.Storage != "":
		return "store at " + s.Storage
	case len(s.Changes) == 0:
		return "write at " + s.Version + " without a change"
	}
	changes := make([]string, 0, len(s.Changes))
	for _, c := range s.Changes {
		changes = append(changes, c.String())
	}
	return "edit at " + s.Version + ": " + strings.Join(changes, ", ")
}
