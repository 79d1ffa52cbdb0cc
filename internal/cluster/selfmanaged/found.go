package selfmanaged

import (
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// organization is in the subject of every certificate that is made here.
const organization = "webhookd"

func isOurs(cert *x509.Certificate) bool {
	return slices.Contains(cert.Subject.Organization, organization)
}

// readLeaf returns the leaf of the Secret, which may be one that certs ensure did not make. If that
// is for other names, the Secret belongs to something else, and readLeaf fails.
func (r *run) readLeaf() (*Pair, error) {
	leaf := parsePair(r.leaf.Data[certKey], r.leaf.Data[keyKey])
	if leaf != nil && !isOurs(leaf.Cert) && leaf.Cert.VerifyHostname(r.Policy.Name) != nil {
		return nil, fmt.Errorf("%s/%s: its certificate is not for %s, and not one of certs ensure: name another Secret, or delete this one",
			r.Namespace, r.Secret, r.Policy.Name)
	}
	return leaf, nil
}

// readCA returns a CA of the Secret, or nil if it cannot issue a leaf, so that another one is
// needed. It fails for such a CA that certs ensure did not make: replacing it would lose its key.
func (r *run) readCA(certName, keyName string) (*Pair, error) {
	ca := parsePair(r.ca.Data[certName], r.ca.Data[keyName])
	if ca == nil {
		return nil, nil //nolint:nilnil // no CA is not an error
	}
	problem := errors.New("it is not a CA, or its key is not the ECDSA key for it")
	if _, is := ca.Key.(*ecdsa.PrivateKey); is && ca.Cert.IsCA {
		problem = r.Policy.try(ca)
	}
	switch {
	case problem == nil:
		return ca, nil
	case isOurs(ca.Cert):
		return nil, nil //nolint:nilnil // no CA is not an error
	}
	return nil, fmt.Errorf("%s/%s: certs ensure did not make this CA, and cannot issue with it (%w): name another Secret, or delete this one",
		r.Namespace, r.Secret+CASuffix, problem)
}

// try issues a leaf and verifies it as the API server would in the middle of the CA's life.
func (p *Policy) try(ca *Pair) error {
	at := ca.Cert.NotBefore.Add(ca.Cert.NotAfter.Sub(ca.Cert.NotBefore) / 2)
	leaf, err := newLeaf(p, ca, at)
	if err != nil {
		return err
	}
	if err := leaf.Cert.CheckSignatureFrom(ca.Cert); err != nil {
		return err
	}
	return crdwire.Bundle{ca.Cert}.Verifies([]*x509.Certificate{leaf.Cert}, p.Name, at)
}
