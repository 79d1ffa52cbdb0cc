package selfmanaged

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// A Pair is a certificate and its key, which is nil if it is missing or not the one for it.
type Pair struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// A State is all that decides the next step.
type State struct {
	CA   *Pair // issues leaves; nil if there is none that could
	Next *Pair // will issue leaves; nil if the CA is not being replaced
	// TrustedSince is when both were seen in ca.crt and in every CRD; zero while they are not
	// there.
	TrustedSince time.Time
	Leaf         *Pair          // what servers serve; nil if there is none
	Published    crdwire.Bundle // ca.crt next to the leaf
	CRDs         []CRD          // those that point at the Service
}

// A CRD is the name of one, and what it trusts.
type CRD struct {
	Name   string
	Bundle crdwire.Bundle
	Stuck  bool // its caBundle could not be set in this run
	Unread bool // it may not be read, so what it trusts is not known; it is stuck as well
}

// A Policy has the lifetimes and delays.
type Policy struct {
	Name         string        // that the API server verifies: NAME.NAMESPACE.svc
	CAValidity   time.Duration // of a new CA
	LeafValidity time.Duration // of a new leaf
	RenewBefore  time.Duration // before the end of a leaf
	StepDelay    time.Duration // between the steps of a CA change, for others to load it
	// AutoRotate replaces the CA before it ends. Without CRDs to add the new one to, a person
	// begins it.
	AutoRotate bool
}

// DefaultStepDelay leaves time for the slowest to load a change: a kubelet, which may take two
// minutes.
const DefaultStepDelay = time.Hour

// Check returns everything that is wrong with a policy.
func (p *Policy) Check() error {
	var problems []error
	if p.RenewBefore <= 0 || p.RenewBefore >= p.LeafValidity {
		problems = append(problems, fmt.Errorf("--renew-before %s: not less than the lifetime of a certificate, %s: use about a third", p.RenewBefore, p.LeafValidity))
	}
	if p.CAValidity < 4*p.LeafValidity {
		problems = append(problems, fmt.Errorf("--ca-validity %s: too short for certificates of %s, use at least four times as much", p.CAValidity, p.LeafValidity))
	}
	if p.StepDelay <= 0 {
		problems = append(problems, fmt.Errorf("--settle %s: no time between the steps of a CA change, use more than 0s", p.StepDelay))
	}
	if p.RenewBefore < 2*p.StepDelay && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("--renew-before %s: too late, use at least twice the delay between the steps of a CA change", p.RenewBefore))
	}
	return errors.Join(problems...)
}

// safeStepDelay is several times what a run or a kubelet takes. Ensure warns of less.
const safeStepDelay = 10 * time.Minute

// RotateBefore is the time before its end when a CA is replaced, so early that it never shortens a
// leaf.
func (p *Policy) RotateBefore() time.Duration { return max(p.CAValidity/5, p.LeafValidity) }

// ours returns the CAs of the Secret.
func (s *State) ours() crdwire.Bundle {
	var b crdwire.Bundle
	for _, pair := range []*Pair{s.CA, s.Next} {
		if pair != nil {
			b = append(b, pair.Cert)
		}
	}
	return b
}

// trusted reports whether all of a bundle is in ca.crt and in every CRD.
func (s *State) trusted(b crdwire.Bundle) bool {
	return s.Published.HasAll(b) && s.trustedByCRDs(b)
}

func (s *State) trustedByCRDs(b crdwire.Bundle) bool {
	return !slices.ContainsFunc(s.CRDs, func(crd CRD) bool { return !crd.Bundle.HasAll(b) })
}

// issuedBy reports whether the leaf is from a CA.
func (s *State) issuedBy(ca *Pair) bool {
	return s.Leaf != nil && ca != nil && s.Leaf.Cert.CheckSignatureFrom(ca.Cert) == nil
}

// validAt reports whether there is a certificate that is valid at a time. One that is not valid yet
// was made by a clock that was ahead by more than backdate.
func (p *Pair) validAt(now time.Time) bool {
	return p != nil && !now.Before(p.Cert.NotBefore) && now.Before(p.Cert.NotAfter)
}

// usable reports whether servers can serve the leaf at a time.
func (s *State) usable(name string, now time.Time) bool {
	return s.Leaf.validAt(now) && s.Leaf.Key != nil && s.Leaf.Cert.VerifyHostname(name) == nil
}

// servedByAnother reports whether there never was a leaf here, but a CRD that cannot be set trusts,
// or may trust, CAs that are not ours. Then servers have another leaf, which a leaf of ours would
// replace.
func (s *State) servedByAnother(now time.Time) bool {
	return s.Leaf == nil && slices.ContainsFunc(s.CRDs, func(crd CRD) bool {
		return crd.Unread || crd.Stuck && len(crd.Bundle.Unexpired(now)) > 0 && !crd.Bundle.Has(s.CA.Cert)
	})
}

// leafAge is the time since the leaf was issued, if it is one of ours.
func (s *State) leafAge(now time.Time) time.Duration {
	return now.Sub(s.Leaf.Cert.NotBefore.Add(backdate))
}

// bundle returns the CAs that all should trust: ours, and any other that is trusted anywhere while
// a server may serve its leaves. That ends when the leaf has been from the present CA for long
// enough.
func (s *State) bundle(p *Policy, now time.Time) crdwire.Bundle {
	want := s.ours()
	if s.issuedBy(s.CA) && s.leafAge(now) >= p.StepDelay {
		return want
	}
	want = want.With(s.Published.Unexpired(now))
	for _, crd := range s.CRDs {
		want = want.With(crd.Bundle.Unexpired(now))
	}
	return want
}
