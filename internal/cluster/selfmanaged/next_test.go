package selfmanaged

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	t.Parallel()
	start := epoch()
	a, b, foreign := caAt(t, start), caAt(t, start.Add(80*day)), caAt(t, start.Add(-time.Hour))
	leafA := leafAt(t, a, start)
	late := start.Add(80 * day) // leaves of it are 80 days on
	leafLate, leafB := leafAt(t, a, late.Add(-day)), leafAt(t, b, late.Add(2*time.Hour))
	leafForeign := leafAt(t, foreign, start)
	keyless := &Pair{Cert: leafA.Cert}
	crd := func(pairs ...*Pair) []CRD { return []CRD{{Name: "c", Bundle: bundle(pairs...)}} }
	for _, tt := range []struct {
		name   string
		state  State
		at     time.Time
		rotate bool
		want   Action
	}{
		{name: "nothing", want: MakeCA},
		{name: "a CA alone", state: State{CA: a}, want: Issue},
		{name: "a CRD trusts the CA before the first leaf", state: State{CA: a, CRDs: crd()}, want: TrustInCRD},
		{name: "the first leaf", state: State{CA: a, CRDs: crd(a)}, want: Issue},
		{name: "the time is noted", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(a)}, want: Trust},
		{name: "all is well", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, want: Wait},
		{name: "a leaf without its key", state: State{CA: a, Leaf: keyless, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, want: Issue},
		{name: "a leaf in its last days", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, at: start.Add(14 * day), want: Issue},
		{name: "a leaf that has ended", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, at: start.Add(21 * day), want: Issue},
		{name: "ca.crt was changed", state: State{CA: a, Leaf: leafA, CRDs: crd(a)}, want: Publish},
		{name: "a caBundle was changed", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(foreign), TrustedSince: start}, want: Distrust},
		{name: "a CRD was wired without a bundle", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd()}, want: TrustInCRD},
		{name: "the CA is not due", state: State{CA: a, Leaf: leafLate, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, at: late, want: Wait},
		{name: "the CA is due", state: State{CA: a, Leaf: leafLate, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, at: start.Add(97 * day), want: MakeNext},
		{name: "the CA is to go", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, rotate: true, want: MakeNext},
		{name: "one rotation at a time", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late}, at: late, rotate: true, want: Wait},
		{name: "the next CA goes to CRDs", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a), CRDs: crd(a)}, at: late, want: TrustInCRD},
		{name: "the next CA is published", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a), CRDs: crd(a, b)}, at: late, want: Publish},
		{name: "the next CA is trusted", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a, b), CRDs: crd(a, b)}, at: late, want: Trust},
		{name: "the next CA has not been trusted for long", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late}, at: late.Add(59 * time.Minute), want: Wait},
		{name: "the note is of a time to come", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late.Add(3 * time.Hour)}, at: late, want: Distrust},
		{name: "the next CA has been trusted for long", state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late}, at: late.Add(time.Hour), want: Promote},
		{name: "a leaf by the new CA", state: State{CA: b, Leaf: leafLate, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late}, at: late.Add(time.Hour), want: Issue},
		{name: "the old CA stays", state: State{CA: b, Leaf: leafB, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late}, at: late.Add(2*time.Hour + 59*time.Minute), want: Wait},
		{name: "the old CA goes", state: State{CA: b, Leaf: leafB, Published: bundle(a, b), CRDs: crd(a, b), TrustedSince: late}, at: late.Add(3 * time.Hour), want: TrustInCRD},
		{name: "the old CA goes from ca.crt", state: State{CA: b, Leaf: leafB, Published: bundle(a, b), CRDs: crd(b), TrustedSince: late}, at: late.Add(3 * time.Hour), want: Publish},
		{name: "a foreign leaf stays", state: State{CA: a, Leaf: leafForeign, Published: bundle(a, foreign), CRDs: crd(a, foreign), TrustedSince: start}, want: Wait},
		{name: "a foreign CA is kept", state: State{CA: a, Leaf: leafForeign, Published: bundle(foreign), CRDs: crd(foreign)}, want: TrustInCRD},
		{name: "a foreign leaf goes", state: State{CA: a, Leaf: leafForeign, Published: bundle(a, foreign), CRDs: crd(a, foreign), TrustedSince: start}, at: start.Add(time.Hour), want: Issue},
		{name: "a foreign leaf ends soon", state: State{CA: a, Leaf: leafForeign, Published: bundle(a, foreign), CRDs: crd(a, foreign), TrustedSince: start.Add(20*day - time.Minute)}, at: start.Add(20*day - time.Minute), want: Issue},
		{name: "the CA has expired", state: State{CA: a, Published: bundle(a), TrustedSince: start}, at: start.Add(121 * day), want: MakeCA},
		{name: "the CA has expired next to the next one", state: State{CA: a, Next: b, Leaf: leafA, Published: bundle(a)}, at: start.Add(121 * day), want: Promote},
		{name: "the CA is not valid yet", state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, at: start.Add(-2 * time.Hour), want: MakeCA},
		{name: "the leaf is not valid yet", state: State{CA: foreign, Leaf: leafAt(t, foreign, start.Add(day)), Published: bundle(foreign), CRDs: crd(foreign), TrustedSince: start}, want: Issue},
		{name: "the CA's key was lost", state: State{Leaf: leafA, Published: bundle(a), CRDs: crd(a), TrustedSince: start}, want: MakeCA},
		{
			name:  "a CRD that cannot be set does not keep the leaf from being renewed",
			state: State{CA: a, Leaf: leafA, Published: bundle(a), CRDs: []CRD{{Name: "c", Stuck: true}}}, at: start.Add(15 * day), want: Issue,
		},
		{
			name:  "a CRD that cannot be set, and trusts the CA that serves now, keeps the first leaf from being made",
			state: State{CA: a, CRDs: []CRD{{Name: "c", Bundle: bundle(foreign), Stuck: true}}}, want: Wait,
		},
		{
			name:  "a CRD that cannot be set, and trusts no CA, does not",
			state: State{CA: a, CRDs: []CRD{{Name: "c", Stuck: true}}}, want: Issue,
		},
		{
			name:  "a CRD that cannot be set, and trusts the right CA, does not",
			state: State{CA: a, CRDs: []CRD{{Name: "c", Bundle: bundle(a, foreign), Stuck: true}}}, want: Issue,
		},
		{
			name:  "nor does it where the leaf has ended that was there",
			state: State{CA: a, Leaf: leafA, CRDs: []CRD{{Name: "c", Bundle: bundle(b), Stuck: true}}}, at: start.Add(21 * day), want: Issue,
		},
		{
			name:  "a CRD that cannot be set keeps the next CA from issuing",
			state: State{CA: a, Next: b, Leaf: leafLate, Published: bundle(a, b), CRDs: []CRD{{Name: "c", Bundle: bundle(a), Stuck: true}}}, at: late.Add(6 * day), want: Wait,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.at.IsZero() {
				tt.at = start
			}
			got := Next(tt.state, policy(), tt.at, tt.rotate)
			if got.Do != tt.want {
				t.Errorf("action %d (%s), want %d", got.Do, got.Why, tt.want)
			}
			if got.Do == Wait && !got.At.After(tt.at) {
				t.Errorf("to wait until %s", got.At)
			}
		})
	}
}

func TestInvalidPolicies(t *testing.T) {
	t.Parallel()
	good := policy()
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Policy){
		"renewed after its end":  func(p *Policy) { p.RenewBefore = p.LeafValidity },
		"never renewed":          func(p *Policy) { p.RenewBefore = 0 },
		"a short CA":             func(p *Policy) { p.CAValidity = 3 * p.LeafValidity },
		"no time to notice":      func(p *Policy) { p.StepDelay = 0 },
		"no time left to rotate": func(p *Policy) { p.RenewBefore = p.StepDelay },
	} {
		p := policy()
		change(&p)
		if p.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
