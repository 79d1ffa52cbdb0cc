package selfmanaged

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"time"
)

// backdate is the start of validity before now, for clients whose clock is slow.
const backdate = time.Hour

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	return key, nil
}

// newCA makes a CA that is constrained to one name.
func newCA(p *Policy, now time.Time) (*Pair, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:                     pkix.Name{Organization: []string{organization}, CommonName: "CA of " + now.UTC().Format("2006-01-02T15:04:05Z")},
		NotBefore:                   now.Add(-backdate),
		NotAfter:                    now.Add(p.CAValidity),
		KeyUsage:                    x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid:       true,
		IsCA:                        true,
		MaxPathLenZero:              true,
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         []string{p.Name},
	}
	return sign(template, template, key, key)
}

func newLeaf(p *Policy, ca *Pair, now time.Time) (*Pair, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{organization}, CommonName: "webhookd"},
		DNSNames:              []string{p.Name},
		NotBefore:             now.Add(-backdate),
		NotAfter:              leafEnd(p, ca.Cert.NotAfter, now),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	return sign(template, ca.Cert, key, ca.Key)
}

func sign(template, parent *x509.Certificate, key, by crypto.Signer) (*Pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return nil, fmt.Errorf("cannot sign a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("cannot sign a certificate: %w", err)
	}
	return &Pair{cert, key}, nil
}

func (p *Pair) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Cert.Raw})
}

func (p *Pair) keyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// parsePair reads a certificate and its key. The pair is nil without a certificate, and the key is
// nil if a server could not load it, or it is not the one of the certificate.
func parsePair(cert, key []byte) *Pair {
	block, _ := pem.Decode(cert)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil
	}
	first, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	pair := &Pair{Cert: first}
	if served, err := tls.X509KeyPair(cert, key); err == nil {
		pair.Key, _ = served.PrivateKey.(crypto.Signer)
	}
	return pair
}
