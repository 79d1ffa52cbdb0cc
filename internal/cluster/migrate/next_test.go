package migrate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// states calls a function with every state of a CRD with v1alpha1, v1beta1 and v1 that Next tells
// apart.
func states(each func(s State, g Goal)) {
	late := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	surveys := []*Survey{
		nil,
		{},
		{Managers: map[string]map[Manager]*Use{"v1beta1": {}}},
		{Managers: map[string]map[Manager]*Use{"v1alpha1": {}, "v1": {}}},
		{Leftovers: map[string]*Leftover{"v1beta1": {}, "v1": {}}},
		{Leftovers: map[string]*Leftover{"v2": {}}},
	}
	for bits := range 1 << 8 {
		is := func(bit int) bool { return bits>>bit&1 == 1 }
		s := State{Rewritten: is(0), Unconverted: is(1)}
		if is(2) {
			s.SettledAt = late
		}
		s.Versions = []Version{{"v1beta1", is(3), is(4)}, {"v1", is(5), !is(4)}}
		if is(6) {
			s.Versions = s.Versions[1:]
			s.Versions[0].Storage = true
		}
		s.Stored = [][]string{{"v1beta1", "v1"}, {s.storage()}}[bits>>7]
		for _, s.Survey = range surveys {
			for _, g := range []Goal{{To: "v1"}, {To: "v1", Remove: []string{"v1beta1"}}, {To: "v1", AllowNone: true}, {To: "v1beta1", Remove: []string{"v1"}}} {
				each(s, g)
			}
		}
	}
}

// The order of precedence, as properties of every step.
func TestNoStepComesTooEarly(t *testing.T) {
	t.Parallel()
	seen := map[Action]int{}
	states(func(s State, g Goal) {
		step := Next(&s, &g)
		seen[step.Do]++
		onlyTo := slices.Equal(s.Stored, []string{g.To}) && s.storage() == g.To
		late := map[Action]bool{
			Prune:          s.Rewritten && s.settled() && s.storage() == g.To,
			Rewrite:        s.settled() && s.storage() == g.To,
			StopServing:    onlyTo,
			CleanManagers:  onlyTo && s.settled() && s.Survey != nil,
			RemoveVersions: onlyTo && s.settled() && s.Survey != nil && len(s.Survey.strays(&s, &g)) == 0,
			CleanLeftovers: onlyTo && s.Survey != nil && len(s.going(&g)) == 0,
			Done:           onlyTo && s.Survey != nil && len(s.going(&g)) == 0,
		}
		if ok, limited := late[step.Do]; limited && !ok {
			t.Fatalf("%+v with %+v: %+v", s, g, step)
		}
		for _, v := range step.Versions {
			if (step.Do == StopServing || step.Do == RemoveVersions) && (v == g.To || !slices.Contains(g.Remove, v) || v == s.storage()) {
				t.Fatalf("%+v with %+v: %+v", s, g, step)
			}
			if step.Do == RemoveVersions && s.isServed(v) {
				t.Fatalf("still served: %+v with %+v: %+v", s, g, step)
			}
			if step.Do == CleanLeftovers && s.has(v) {
				t.Fatalf("kept values of a version that there is: %+v with %+v: %+v", s, g, step)
			}
		}
		if irrevocable := step.Do == CleanManagers || step.Do == RemoveVersions || step.Do == CleanLeftovers || step.Do == StopServing; irrevocable && step.Warning == "" {
			t.Fatalf("no warning: %+v", step)
		}
	})
	for action := Stop; action <= Done; action++ {
		if seen[action] == 0 {
			t.Errorf("no state leads to action %d", action)
		}
	}
}

// Each plan ends: nothing is done twice.
func TestAPlanEnds(t *testing.T) {
	t.Parallel()
	states(func(s State, g Goal) {
		steps := Plan(s, &g)
		done := map[Action]bool{}
		for _, step := range steps {
			if done[step.Do] {
				t.Fatalf("%+v with %+v: %+v", s, g, steps)
			}
			done[step.Do] = true
		}
	})
}

func TestPlan(t *testing.T) {
	t.Parallel()
	s := State{
		Versions: []Version{{"v1beta1", true, true}, {"v1", true, false}}, Stored: []string{"v1beta1"},
		Survey: &Survey{Managers: map[string]map[Manager]*Use{"v1beta1": {}}, Leftovers: map[string]*Leftover{"v1beta1": {Values: map[string]int{".spec.x": 2}}}},
	}
	steps := func(s State, g Goal) (all []string) {
		for _, step := range Plan(s, &g) {
			all = append(all, step.Why)
		}
		return all
	}
	want := []string{
		"store objects in v1 when they are written: set storage in spec.versions",
		"write each object once, so that it is stored in v1",
		"remove v1beta1 from status.storedVersions, since no object is stored in it",
		"stop serving v1beta1: set served to false in spec.versions",
		"put entries of v1beta1 in metadata.managedFields under v1",
		"remove v1beta1 from spec.versions",
		"remove the kept values of v1beta1: 2 of .spec.x",
	}
	if diff := cmp.Diff(want, steps(s, Goal{To: "v1", Remove: []string{"v1beta1"}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:3], steps(s, Goal{To: "v1"})); diff != "" {
		t.Errorf("storage only (-want +got):\n%s", diff)
	}
}

func TestGoalsThatAreWrong(t *testing.T) {
	t.Parallel()
	s := State{Versions: []Version{{"v1beta1", true, false}, {"v1", true, true}, {"v2", false, false}}, Stored: []string{"v1beta1", "v1"}}
	none := s
	none.Unconverted = true
	deleted := s
	deleted.Deleting = true
	for name, tt := range map[string]struct {
		s    State
		g    Goal
		want string
	}{
		"fine":                    {s, Goal{To: "v1"}, ""},
		"unknown":                 {s, Goal{To: "v3"}, `there is no version "v3", choose one of v1beta1, v1, v2`},
		"removed and stored":      {s, Goal{To: "v1", Remove: []string{"v1"}}, "v1 cannot be removed, since objects are to be stored in it: name another version with --to"},
		"nothing served":          {s, Goal{To: "v2", Remove: []string{"v1beta1", "v1"}}, "no version that stays is served: set served in spec.versions of v2 first"},
		"deleted":                 {deleted, Goal{To: "v1"}, "the CRD is being deleted"},
		"not converted, but fine": {none, Goal{To: "v1", AllowNone: true}, ""},
		"not converted": {
			none,
			Goal{To: "v1"},
			"strategy None, and versions with different schemas: writing an object would drop the fields that v1 lacks; " +
				"point the CRD at webhookd first with webhookd crd apply, or accept that with --allow-none",
		},
	} {
		if diff := cmp.Diff(tt.want, wrong(&tt.s, &tt.g)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := State{Versions: []Version{{Name: "v1beta1"}, {Name: "v1"}, {Name: "a-version-with-a-very-long-name"}}}
	for label, want := range map[string]bool{
		"v1": false, "v1beta1": false, // still there
		"v1alpha1":       false, // the age of the long name is not known
		"v2":             false, // it may come back
		"v1beta2":        true,  // to be removed
		"version-" + "x": false,
	} {
		if got := s.leftover(&Goal{To: "v1", Remove: []string{"v1beta2", "v1beta1"}}, label); got != want {
			t.Errorf("%s: %t", label, got)
		}
	}
	s.Versions = s.Versions[:2]
	if !s.leftover(&Goal{To: "v1"}, "v1alpha1") {
		t.Error("a version older than all others is not recognized")
	}
}
