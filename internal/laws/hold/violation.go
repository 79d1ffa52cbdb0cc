package hold

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A ViolationError says that a law does not hold. Its message quotes the object, so it is for the
// author of a converter and must not go to a server's log.
type ViolationError struct {
	Law Law
	// From and To are the versions.
	From, To string
	// Problem says what happened.
	Problem string
	// Path is the first place that differs, in the version At. Was and Is are the JSON texts of
	// what should be there and what is, "" if absent. All of them are empty if nothing is compared.
	Path, At, Was, Is string
	// Default is the default that breaks the law, nil if none does alone.
	Default *Default
	// Object is the object, made as small as the violation allows. Walk is what happens to it, nil
	// if it is only converted.
	Object []byte
	Walk   *generate.Walk
	// Seed is the suite's. Index is that of the object in a run of Fuzz.
	Seed, Index uint64
}

// Error implements error.
func (v *ViolationError) Error() string {
	walk := ""
	if v.Walk != nil {
		walk = "walk: " + strings.Join(v.Walk.Lines(), "; ") + "\n"
	}
	return fmt.Sprintf("law %s does not hold: %s -> %s: %s\nobject: %s\n%sseed: %d", v.Law, v.From, v.To, v.Problem, v.Object, walk, v.Seed)
}

// Steps says what was done to the object until it differed, "" if nothing is compared.
func (v *ViolationError) Steps() string {
	if v.Path == "" {
		return ""
	}
	_, steps, _ := strings.Cut(v.Problem, " differs: ")
	return steps
}

// differs adds the place at which two objects of a version differ.
func (v *ViolationError) differs(at string, diff tree.Gap) *ViolationError {
	v.Problem = diff.Path + " differs: " + v.Problem
	v.Path, v.At = diff.Path, at
	v.Was, v.Is = tree.Text(diff.Was), tree.Text(diff.Is)
	return v
}
