package selfmanaged

import (
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crdconvert/webhookd/internal/crdwire"
)

// A Pair is a certificate and its key. Key is nil if there is none, or not the one for it.
type Pair struct {
	Cert *x509.Certificate
	Key  *ecdsa.PrivateKey
}

// A State is all that a step is decided by.
type State struct {
	CA   *Pair // issues leaves; nil if there is none that could
	Next *Pair // will issue leaves; nil if the CA is not being replaced
	// TrustedSince is when both have been seen in ca.crt and in every CRD; zero while they are not.
	TrustedSince time.Time
	Leaf         *Pair          // what servers serve; nil if there is none that they could
	Published    crdwire.Bundle // ca.crt beside the leaf
	CRDs         []CRD          // those that point at the Service
}

// A CRD is what one trusts.
type CRD struct {
	Name   string
	Bundle crdwire.Bundle
	Stuck  bool // its caBundle could not be set in this run
	Unread bool // what it trusts, and whether it points at the Service, may not be read; it is stuck as well
}

// A Policy says how long things last.
type Policy struct {
	Name         string        // that the API server asks for: NAME.NAMESPACE.svc
	CAValidity   time.Duration // of a new CA
	LeafValidity time.Duration // of a new leaf
	RenewBefore  time.Duration // the end of a leaf
	Settle       time.Duration // for others to take notice of a change
	// AutoRotate replaces the CA before it ends. Without CRDs to put the new one into, that is for a person to begin.
	AutoRotate bool
}

// DefaultSettle leaves time for the slowest to take notice: a kubelet, which may need two minutes.
const DefaultSettle = time.Hour

// Check reports all that is wrong with a policy.
func (p *Policy) Check() error {
	var problems []error
	if p.RenewBefore <= 0 || p.RenewBefore >= p.LeafValidity {
		problems = append(problems, fmt.Errorf("a leaf of %s cannot be renewed %s before its end: write less, such as a third of it", p.LeafValidity, p.RenewBefore))
	}
	if p.CAValidity < 4*p.LeafValidity {
		problems = append(problems, fmt.Errorf("a CA of %s is too short for leaves of %s: write at least four times as much", p.CAValidity, p.LeafValidity))
	}
	if p.Settle < minSettle {
		problems = append(problems, fmt.Errorf("%s is too short for others to take notice: write at least %s", p.Settle, minSettle))
	}
	if p.RenewBefore < 2*p.Settle && len(problems) == 0 {
		problems = append(problems, errors.New("a leaf must be renewed sooner: write at least twice the time that others need to take notice"))
	}
	return errors.Join(problems...)
}

// minSettle is several times what a run takes, and what a kubelet takes.
const minSettle = 10 * time.Minute

// RotateBefore is how long before its end a CA is replaced: leaves must never be cut short by it.
func (p *Policy) RotateBefore() time.Duration { return max(p.CAValidity/5, p.LeafValidity) }

// ours are the CAs that there are.
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

// validAt reports whether there is a certificate, and it is valid at a time. One that is not valid yet was made by a clock that was
// ahead by more than clocks may differ (backdate): it is as good as none until others get there.
func (p *Pair) validAt(now time.Time) bool {
	return p != nil && !now.Before(p.Cert.NotBefore) && now.Before(p.Cert.NotAfter)
}

// usable reports whether servers can do with the leaf at a time.
func (s *State) usable(name string, now time.Time) bool {
	return s.Leaf.validAt(now) && s.Leaf.Key != nil && s.Leaf.Cert.VerifyHostname(name) == nil
}

// servedByAnother reports whether there never was a leaf here, while a CRD that cannot be set trusts CAs that are not ours, or may:
// what is served now is from elsewhere, and a leaf of ours would take its place as soon as there is one.
func (s *State) servedByAnother(now time.Time) bool {
	return s.Leaf == nil && slices.ContainsFunc(s.CRDs, func(crd CRD) bool {
		return crd.Unread || crd.Stuck && len(crd.Bundle.Unexpired(now)) > 0 && !crd.Bundle.Has(s.CA.Cert)
	})
}

// leafAge is how long ago the leaf was issued, if it is one of ours.
func (s *State) leafAge(now time.Time) time.Duration {
	return now.Sub(s.Leaf.Cert.NotBefore.Add(backdate))
}

// bundle is what everybody is to trust: our CAs, and all others that are trusted anywhere as long as a server may serve
// what they have issued. That is over when the leaf has been from the present CA for long enough.
func (s *State) bundle(p *Policy, now time.Time) crdwire.Bundle {
	want := s.ours()
	if s.issuedBy(s.CA) && s.leafAge(now) >= p.Settle {
		return want
	}
	want = want.With(s.Published.Unexpired(now))
	for _, crd := range s.CRDs {
		want = want.With(crd.Bundle.Unexpired(now))
	}
	return want
}
