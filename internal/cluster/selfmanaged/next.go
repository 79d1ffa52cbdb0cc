package selfmanaged

import (
	"fmt"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// A Step is the next thing to do.
type Step struct {
	Do     Action
	CRD    string         // for TrustInCRD
	Bundle crdwire.Bundle // for TrustInCRD, Publish and Issue
	Why    string
	// At, for Wait, is the time of the next thing to do.
	At time.Time
}

// An Action is a kind of Step. Each changes one object.
type Action int

// The actions.
const (
	Wait       Action = iota // nothing to do before Step.At
	MakeCA                   // a CA, which may issue as soon as it is trusted
	MakeNext                 // the CA that will replace the present one
	Distrust                 // forget TrustedSince: a CA is no longer trusted everywhere
	TrustInCRD               // set caBundle of a CRD
	Publish                  // set ca.crt
	Trust                    // note in TrustedSince that our CAs are trusted everywhere
	Promote                  // make the next CA the present one
	Issue                    // a leaf, and set ca.crt with it
)

// Next returns the next step. It is a pure function; rotate asks for a new CA before the present
// one is due.
func Next(s State, p Policy, now time.Time, rotate bool) Step { //nolint:gocyclo // a table, in the order of precedence
	caGood, nextGood := s.CA.validAt(now), s.Next.validAt(now)
	switch {
	case !caGood && nextGood:
		return Step{Do: Promote, Why: whyNoCA(s.CA, now)}
	case !caGood:
		return Step{Do: MakeCA, Why: whyNoCA(s.CA, now)}
	case caGood && !nextGood && (s.CA.Cert.NotAfter.Sub(now) < p.RotateBefore() && p.AutoRotate || rotate):
		return Step{Do: MakeNext, Why: "the CA is to be replaced"}
	}
	ours := s.ours()
	switch {
	case s.TrustedSince.After(now.Add(backdate)):
		return Step{Do: Distrust, Why: "the noted time is in the future"}
	case !s.TrustedSince.IsZero() && !s.trusted(ours):
		return Step{Do: Distrust, Why: "a CA is no longer trusted everywhere"}
	}
	want := s.bundle(&p, now)
	for _, crd := range s.CRDs {
		if !crd.Stuck && !crd.Bundle.Same(want) {
			return Step{Do: TrustInCRD, CRD: crd.Name, Bundle: want, Why: change(crd.Bundle, want)}
		}
	}
	usable := s.usable(p.Name, now)
	if usable && !s.Published.Same(want) {
		return Step{Do: Publish, Bundle: want, Why: change(s.Published, want)}
	}
	if usable && s.TrustedSince.IsZero() && s.trusted(ours) {
		return Step{Do: Trust, Why: "the CAs are trusted everywhere"}
	}
	return s.leafStep(&p, now, want, usable, nextGood)
}

// leafStep is Next once all CRDs but those that cannot be set trust the CAs that they should.
func (s *State) leafStep(p *Policy, now time.Time, want crdwire.Bundle, usable, nextGood bool) Step {
	issue := func(why string) Step { return Step{Do: Issue, Bundle: want, Why: why} }
	if s.servedByAnother(now) {
		return Step{Do: Wait, At: now.Add(p.StepDelay), Why: "a CRD trusts another CA, and cannot be set"}
	}
	if !usable {
		return issue("there is no leaf that can be served")
	}
	own, left := s.issuedBy(s.CA), s.Leaf.Cert.NotAfter.Sub(now)
	renewable := own && leafEnd(p, s.CA.Cert.NotAfter, now).Sub(s.Leaf.Cert.NotAfter) > p.RenewBefore/2
	// The delay lets others load a change; it must end while there still is a valid leaf.
	urgent := !renewable && left < max(p.StepDelay, p.RenewBefore/10)
	ready := !s.TrustedSince.IsZero() && (urgent || !now.Before(s.TrustedSince.Add(p.StepDelay)))
	switch {
	case nextGood && own && ready:
		return Step{Do: Promote, Why: "the next CA has been trusted everywhere for long enough"}
	case !own && ready:
		return issue("the leaf is from another CA")
	case renewable && left < p.RenewBefore:
		return issue("the leaf is due for renewal")
	}
	return Step{Do: Wait, At: s.due(p, now, want, nextGood), Why: "everything is up to date"}
}

// due returns the time of the next thing to do.
func (s *State) due(p *Policy, now time.Time, want crdwire.Bundle, nextGood bool) time.Time {
	at := s.Leaf.Cert.NotAfter.Add(-p.RenewBefore)
	sooner := func(t time.Time) {
		if t.After(now) && (t.Before(at) || !at.After(now)) {
			at = t
		}
	}
	if nextGood || !s.issuedBy(s.CA) {
		sooner(s.TrustedSince.Add(p.StepDelay))
	}
	if p.AutoRotate {
		sooner(s.CA.Cert.NotAfter.Add(-p.RotateBefore()))
	}
	if s.issuedBy(s.CA) && !want.Same(s.ours()) {
		sooner(s.Leaf.Cert.NotBefore.Add(backdate + p.StepDelay))
	}
	return at
}

// leafEnd is the end of a leaf that is issued now: not after that of its CA.
func leafEnd(p *Policy, caEnd, now time.Time) time.Time {
	if end := now.Add(p.LeafValidity); end.Before(caEnd) {
		return end
	}
	return caEnd
}

func whyNoCA(ca *Pair, now time.Time) string {
	switch {
	case ca == nil:
		return "there is no CA with a key"
	case now.Before(ca.Cert.NotBefore):
		return "the CA is not valid yet: a clock was ahead"
	}
	return "the CA has expired"
}

// change describes how a bundle changes.
func change(was, is crdwire.Bundle) string {
	all := len(was.With(is))
	return fmt.Sprintf("%d CAs added, %d removed", all-len(was), all-len(is))
}
