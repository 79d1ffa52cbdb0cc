package migrate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Action is what a step does.
type Action int

// The actions, in their usual order.
const (
	Stop       Action = iota // something is wrong with the goal
	SetStorage               // set spec.versions[].storage
	Wait                     // until the CRD's generation has settled
	Rewrite                  // write each object
	Prune                    // set status.storedVersions
	ListObjects
	StopServing    // set spec.versions[].served
	CleanManagers  // take versions out of managedFields
	RemoveVersions // out of spec.versions
	CleanLeftovers // remove annotations of removed versions
	Done
)

// A Step is one action, and what it is for.
type Step struct {
	Do  Action
	Why string
	// Versions are those that it is about.
	Versions []string
	// At is the end of a Wait.
	At time.Time
	// ByHand says that the user takes it, since Crossplane would revert it.
	ByHand bool
	// Warning says what users notice, or what cannot be taken back. A step that has one is not
	// taken before it is confirmed.
	Warning string
}

// Next returns the next step. It is a pure function.
func Next(s *State, g *Goal) Step {
	if why := wrong(s, g); why != "" {
		return Step{Do: Stop, Why: why}
	}
	to := []string{g.To}
	where, storage := s.inSpec()
	if s.storage() != g.To {
		return Step{
			Do: SetStorage, Versions: to, ByHand: s.Definition != "",
			Why: "store objects in " + g.To + " when they are written: set " + storage + " in " + where,
		}
	}
	if !slices.Equal(s.Stored, to) {
		return s.storeStep(g)
	}
	going := s.going(g)
	if served := slices.DeleteFunc(slices.Clone(going), func(v string) bool { return !s.isServed(v) }); len(served) > 0 {
		return Step{
			Do: StopServing, Versions: served, ByHand: s.Definition != "",
			Why:     "stop serving " + list(served) + ": set served to false in " + where,
			Warning: "clients that still read or apply at " + list(served) + " will get the error 404; it can be served again",
		}
	}
	if s.Survey == nil {
		return Step{Do: ListObjects, Why: "list the objects"}
	}
	return s.removeStep(g, going)
}

// storeStep is Next as long as objects may be stored in another version.
func (s *State) storeStep(g *Goal) Step {
	others := slices.DeleteFunc(slices.Clone(s.Stored), func(v string) bool { return v == g.To })
	switch {
	case !s.settled():
		return s.wait()
	case s.Rewritten:
		return Step{Do: Prune, Versions: []string{g.To}, Why: "remove " + list(others) + " from status.storedVersions, since no object is stored in it"}
	}
	return Step{Do: Rewrite, Versions: []string{g.To}, Why: "write each object once, so that it is stored in " + g.To}
}

// removeStep is Next once all objects are stored in the right version, and versions that go are not
// served.
func (s *State) removeStep(g *Goal, going []string) Step {
	stray := s.Survey.strays(s, g)
	where, _ := s.inSpec()
	switch {
	case (len(stray) > 0 || len(going) > 0) && !s.settled():
		return s.wait()
	case len(stray) > 0:
		return Step{
			Do: CleanManagers, Versions: stray, Why: "put entries of " + list(stray) + " in metadata.managedFields under " + g.To,
			Warning: "managers keep the fields that have the same name in " + g.To + "; of other fields of " + list(stray) +
				" they are no longer the owners, and it cannot be taken back",
		}
	case len(going) > 0:
		return Step{
			Do: RemoveVersions, Versions: going, ByHand: s.Definition != "", Why: "remove " + list(going) + " from " + where,
			Warning: "no client can use " + list(going) + " any more, and what the other versions have no field for cannot be read any more",
		}
	}
	if left := s.Survey.leftovers(s, g); len(left) > 0 {
		lost := make([]string, len(left))
		for i, label := range left {
			lost[i] = label + ": " + s.Survey.Leftovers[label].list()
		}
		return Step{
			Do: CleanLeftovers, Versions: left, Why: "remove the kept values of " + strings.Join(lost, "; of "),
			Warning: "these values are then lost; webhookd kept shows them",
		}
	}
	return Step{Do: Done}
}

func (s *State) wait() Step {
	return Step{Do: Wait, At: s.SettledAt, Why: "wait until all API servers know the CRD, and requests that began before have ended"}
}

// wrong says what is wrong with the goal; empty if nothing is.
func wrong(s *State, g *Goal) string {
	served := slices.ContainsFunc(s.Versions, func(v Version) bool { return v.Served && !slices.Contains(g.Remove, v.Name) })
	switch {
	case s.Deleting:
		return "the CRD is being deleted"
	case !s.has(g.To):
		return fmt.Sprintf("there is no version %q, choose one of %s", g.To, list(s.names()))
	case slices.Contains(g.Remove, g.To):
		return g.To + " cannot be removed, since objects are to be stored in it: name another version with --to"
	case !served:
		return "no version that stays is served: set served in spec.versions of " + g.To + " first"
	case s.Unconverted && !g.AllowNone && (s.storage() != g.To || len(s.Stored) > 1):
		return "strategy None, and versions with different schemas: writing an object would drop the fields that " + g.To +
			" lacks; point the CRD at webhookd first with webhookd crd apply, or accept that with --allow-none"
	}
	return ""
}

// Plan returns the steps to the goal, as far as they are known. Waiting and listing are left out.
func Plan(s State, g *Goal) []Step {
	var steps []Step
	for {
		s.SettledAt = time.Time{}
		step := Next(&s, g)
		if step.Do == Done {
			return steps
		}
		if step.Do != ListObjects {
			steps = append(steps, step)
		}
		if step.Do == Stop {
			return steps
		}
		s.after(step, g)
	}
}

// after changes the state as a step does if nothing else happens.
func (s *State) after(step Step, g *Goal) {
	s.Versions = slices.Clone(s.Versions)
	for i := range s.Versions {
		v := &s.Versions[i]
		if step.Do == StopServing {
			v.Served = v.Served && !slices.Contains(step.Versions, v.Name)
		}
		if step.Do == SetStorage {
			v.Storage = v.Name == g.To
			if v.Storage && !slices.Contains(s.Stored, g.To) {
				s.Stored = append(slices.Clone(s.Stored), g.To)
			}
		}
	}
	switch step.Do {
	case Stop, SetStorage, Wait, StopServing, Done:
	case Prune:
		s.Stored = []string{g.To}
	case Rewrite:
		s.Rewritten = true
	case ListObjects:
		s.Survey = &Survey{}
	case CleanManagers:
		survey := *s.Survey
		survey.Managers = nil
		s.Survey = &survey
	case RemoveVersions:
		s.Versions = slices.DeleteFunc(s.Versions, func(v Version) bool { return slices.Contains(step.Versions, v.Name) })
	case CleanLeftovers:
		survey := *s.Survey
		survey.Leftovers = nil
		s.Survey = &survey
	}
}

func list(names []string) string { return strings.Join(names, ", ") }
