package selfmanaged

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/crdwire"
)

// organization is in the subjects of all that is made here.
const organization = "webhookd"

func isOurs(cert *x509.Certificate) bool {
	return slices.Contains(cert.Subject.Organization, organization)
}

// readLeaf returns the leaf of the Secret, which may be somebody else's if it is for our name. One for other names is not ours
// to replace: the Secret is that of something else.
func (r *run) readLeaf() (*Pair, error) {
	leaf := parseLeaf(r.leaf.Data[certKey], r.leaf.Data[keyKey])
	if leaf != nil && !isOurs(leaf.Cert) && leaf.Cert.VerifyHostname(r.Policy.Name) != nil {
		return nil, fmt.Errorf("its certificate is not for %s, and not one of certs ensure: name another Secret, or delete this one: %s/%s",
			r.Policy.Name, r.Namespace, r.Secret)
	}
	return leaf, nil
}

// readCA returns a CA of the Secret; nil if it cannot issue what is needed, so that there has to be another one. A CA that
// somebody else has made is not ours to replace, since its key would be lost.
func (r *run) readCA(certName, keyName string) (*Pair, error) {
	ca := parseCA(r.ca.Data[certName], r.ca.Data[keyName])
	problem := errors.New("its key is no ECDSA key in PKCS #8, or not the one for it")
	if ca != nil {
		problem = r.Policy.try(ca)
	}
	if problem == nil {
		return ca, nil
	}
	if cert, err := firstCert(r.ca.Data[certName]); err == nil && !isOurs(cert) {
		return nil, fmt.Errorf("certs ensure has not made this CA, and cannot issue with it (%w): name another Secret, or delete this one: %s/%s",
			problem, r.Namespace, r.Secret+CASuffix)
	}
	return nil, nil //nolint:nilnil // no CA is no error
}

// try issues a leaf, and verifies it as the API server would in the middle of the CA's life.
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
