package tlstest

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"net/url"
	"testing"
	"time"
)

// A CA issues certificates. It is safe for concurrent use.
type CA struct {
	Cert *x509.Certificate
	PEM  []byte // the certificate, usable as a caBundle

	key    crypto.Signer
	issuer *CA // nil for a root
}

// NewCA makes a root CA with a P-256 key, valid from a year ago for eleven years.
func NewCA(tb testing.TB, name string) *CA {
	tb.Helper()
	return newCA(tb, name, nil)
}

// Intermediate makes a CA whose certificate ca signs.
func (ca *CA) Intermediate(tb testing.TB, name string) *CA {
	tb.Helper()
	return newCA(tb, name, ca)
}

func newCA(tb testing.TB, name string, issuer *CA) *CA {
	tb.Helper()
	ca := &CA{key: NewKey(tb), issuer: issuer}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().AddDate(-1, 0, 0),
		NotAfter:              time.Now().AddDate(10, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	parent, key := template, ca.key
	if issuer != nil {
		parent, key = issuer.Cert, issuer.key
	}
	ca.Cert = sign(tb, template, parent, ca.key.Public(), key)
	ca.PEM = certPEM(ca.Cert)
	return ca
}

// Pool returns a pool with only this CA.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.Cert)
	return pool
}

// Leaf configures a certificate. Its zero value is a server's certificate for localhost, 127.0.0.1
// and ::1 with a new P-256 key, valid from an hour ago for a day.
type Leaf struct {
	CommonName string
	Hosts      []string // DNS names and IP addresses; empty but not nil means none
	URIs       []string
	NotBefore  time.Time
	NotAfter   time.Time
	Usage      []x509.ExtKeyUsage // empty means server authentication
	Key        crypto.Signer
}

// A Pair is a certificate with its key. Cert holds the leaf and the intermediate CAs.
type Pair struct {
	Leaf      *x509.Certificate
	Cert, Key []byte // PEM
	Signer    crypto.Signer
}

// Issue signs a certificate.
func (ca *CA) Issue(tb testing.TB, leaf Leaf) Pair {
	tb.Helper()
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: leaf.CommonName},
		NotBefore:             cmp.Or(leaf.NotBefore, time.Now().Add(-time.Hour)),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           leaf.Usage,
		BasicConstraintsValid: true,
	}
	template.NotAfter = cmp.Or(leaf.NotAfter, template.NotBefore.Add(25*time.Hour))
	if len(template.ExtKeyUsage) == 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	addNames(tb, template, leaf)
	key := leaf.Key
	if key == nil {
		key = NewKey(tb)
	}
	p := Pair{Leaf: sign(tb, template, ca.Cert, key.Public(), ca.key), Key: keyPEM(tb, key), Signer: key}
	p.Cert = certPEM(p.Leaf)
	for issuer := ca; issuer.issuer != nil; issuer = issuer.issuer {
		p.Cert = append(p.Cert, issuer.PEM...)
	}
	return p
}

func addNames(tb testing.TB, template *x509.Certificate, leaf Leaf) {
	tb.Helper()
	hosts := leaf.Hosts
	if hosts == nil {
		hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	for _, text := range leaf.URIs {
		uri, err := url.Parse(text)
		if err != nil {
			tb.Fatalf("URI of a leaf: %v", err)
		}
		template.URIs = append(template.URIs, uri)
	}
}

// Files returns the pair as the data of a kubernetes.io/tls Secret.
func (p Pair) Files() map[string][]byte {
	return map[string][]byte{"tls.crt": p.Cert, "tls.key": p.Key}
}

// TLS returns the pair for crypto/tls, for a client that presents it.
func (p Pair) TLS(tb testing.TB) tls.Certificate {
	tb.Helper()
	cert, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		tb.Fatalf("issued pair: %v", err)
	}
	return cert
}

// NewKey makes a P-256 key.
func NewKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatalf("make a key: %v", err)
	}
	return key
}

func sign(tb testing.TB, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		tb.Fatalf("sign a certificate: %v", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatalf("parse the certificate just signed: %v", err)
	}
	return cert
}

func certPEM(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

func keyPEM(tb testing.TB, key crypto.Signer) []byte {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatalf("encode a key: %v", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
