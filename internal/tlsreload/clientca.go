package tlsreload

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

// clients is a set of CAs for client certificates, with its PEM text.
type clients struct {
	pem   []byte
	pool  *x509.CertPool
	count int
}

func (c *clients) holds(f *files) bool {
	return c != nil && bytes.Equal(c.pem, f.clientCA)
}

func parseClients(f *files) (*clients, error) {
	if f.clientCAErr != nil {
		return nil, f.clientCAErr
	}
	certs, err := parseCertificates(f.clientCA)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.clientCAPath, err)
	}
	c := &clients{pem: f.clientCA, pool: x509.NewCertPool(), count: len(certs)}
	for _, cert := range certs {
		c.pool.AddCert(cert)
	}
	return c, nil
}

// verifyNames returns a check that the client's certificate, which there must be, has one of the
// names, or nil if there are no names.
func verifyNames(names []string) func(tls.ConnectionState) error {
	if len(names) == 0 {
		return nil
	}
	return func(conn tls.ConnectionState) error {
		if !hasName(conn.PeerCertificates[0], names) {
			return errors.New("client certificate has none of the allowed names")
		}
		return nil
	}
}

func hasName(leaf *x509.Certificate, allowed []string) bool {
	names := append([]string{leaf.Subject.CommonName}, leaf.DNSNames...)
	for _, uri := range leaf.URIs {
		names = append(names, uri.String())
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(allowed, name) })
}
