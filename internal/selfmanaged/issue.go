package selfmanaged

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// backdate is for clients whose clock is behind.
const backdate = time.Hour

func newKeyAndSerial() (*ecdsa.PrivateKey, *big.Int, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a serial number: %w", err)
	}
	return key, serial, nil
}

// newCA makes a CA that can vouch for one name alone.
func newCA(p *Policy, now time.Time) (*Pair, error) {
	key, serial, err := newKeyAndSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:                serial,
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

// newLeaf issues a leaf.
func newLeaf(p *Policy, ca *Pair, now time.Time) (*Pair, error) {
	key, serial, err := newKeyAndSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
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

func sign(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) (*Pair, error) {
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

// parseLeaf reads a pair that servers serve; nil without a certificate. Its key may be of any kind: a leaf that somebody else
// has made stays until it is replaced.
func parseLeaf(cert, key []byte) *Pair {
	c, err := firstCert(cert)
	if err != nil {
		return nil
	}
	pair := &Pair{Cert: c}
	if served, err := tls.X509KeyPair(cert, key); err == nil {
		var is bool
		if pair.Key, is = served.PrivateKey.(*ecdsa.PrivateKey); !is {
			pair.Key = &ecdsa.PrivateKey{} // of another kind
		}
	}
	return pair
}

// parseCA reads a pair that can issue; nil without.
func parseCA(cert, key []byte) *Pair {
	c, err := firstCert(cert)
	if err != nil || !c.IsCA {
		return nil
	}
	k, err := parseKey(key)
	if err != nil || !k.PublicKey.Equal(c.PublicKey) {
		return nil
	}
	return &Pair{c, k}
}

func firstCert(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("no certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("key of another kind than ECDSA")
	}
	return ec, nil
}
