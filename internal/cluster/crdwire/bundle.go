package crdwire

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Bundle is a set of CAs, such as caBundle.
type Bundle []*x509.Certificate

// ParseBundle reads certificates in PEM. Like the API server, it skips other blocks.
func ParseBundle(text []byte) (Bundle, error) {
	b, err := parseBundle(text)
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, errors.New("no certificate in PEM")
	}
	return b, nil
}

// ReadableBundle returns the CAs of a caBundle that the API server trusts: it skips certificates
// that it cannot read.
func ReadableBundle(text []byte) Bundle {
	b, _ := parseBundle(text)
	return b
}

// parseBundle returns all certificates that can be read, and an error for the first that cannot.
func parseBundle(text []byte) (b Bundle, problem error) {
	for n := 1; ; n++ {
		var block *pem.Block
		for block, text = pem.Decode(text); block != nil && block.Type != "CERTIFICATE"; {
			block, text = pem.Decode(text)
		}
		if block == nil {
			return b, problem
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil && problem == nil:
			problem = fmt.Errorf("certificate %d cannot be read: %w", n, err)
		case err == nil && !b.Has(cert):
			b = append(b, cert)
		}
	}
}

// PEM returns the bundle in PEM, as caBundle has it.
func (b Bundle) PEM() []byte {
	var out bytes.Buffer
	for _, cert := range b {
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}) // a buffer accepts everything
	}
	return out.Bytes()
}

// Pool returns the bundle for crypto/tls.
func (b Bundle) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, cert := range b {
		pool.AddCert(cert)
	}
	return pool
}

// Has reports whether a certificate is in the bundle.
func (b Bundle) Has(cert *x509.Certificate) bool { return slices.ContainsFunc(b, cert.Equal) }

// HasAll reports whether all certificates of another bundle are in this one.
func (b Bundle) HasAll(other Bundle) bool {
	return !slices.ContainsFunc(other, func(cert *x509.Certificate) bool { return !b.Has(cert) })
}

// Same reports whether both have the same certificates.
func (b Bundle) Same(other Bundle) bool { return b.HasAll(other) && other.HasAll(b) }

// With returns the union of both bundles.
func (b Bundle) With(other Bundle) Bundle {
	all := slices.Clone(b)
	for _, cert := range other {
		if !all.Has(cert) {
			all = append(all, cert)
		}
	}
	return all
}

// Unexpired returns the certificates that have not expired at a time.
func (b Bundle) Unexpired(now time.Time) Bundle {
	return slices.DeleteFunc(slices.Clone(b), func(cert *x509.Certificate) bool { return now.After(cert.NotAfter) })
}

// Verifies checks a served chain, the leaf first, as the API server does.
func (b Bundle) Verifies(chain []*x509.Certificate, name string, now time.Time) error {
	if len(chain) == 0 {
		return errors.New("no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	options := x509.VerifyOptions{DNSName: name, Roots: b.Pool(), Intermediates: between, CurrentTime: now}
	_, err := chain[0].Verify(options)
	return err
}

// NameOf returns the subject of a certificate, or its serial number.
func NameOf(cert *x509.Certificate) string {
	if name := cert.Subject.String(); name != "" {
		return name
	}
	return "serial number " + cert.SerialNumber.String()
}
