package tlsreload

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"time"
)

const (
	selfSignedFor      = 365 * 24 * time.Hour
	selfSignedBackdate = time.Hour // for clients whose clock is behind
)

// SelfSigned makes a P-256 key pair in memory, for local use. It is valid for a year from now, for
// hosts (DNS names or IP addresses) and always for localhost, 127.0.0.1 and ::1. It is its own CA
// bundle, see [Source.CABundle].
func SelfSigned(hosts []string, now time.Time, hooks Hooks) (*Source, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "webhookd self-signed"},
		NotBefore:             now.Add(-selfSignedBackdate),
		NotAfter:              now.Add(selfSignedFor),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	addHosts(template, hosts)
	var der []byte
	var leaf *x509.Certificate
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err == nil {
		der, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	}
	if err == nil {
		leaf, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, fmt.Errorf("self-signed certificate: %w", err)
	}
	cert := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	s := &Source{
		opts:   Options{Hooks: hooks, Now: time.Now},
		bundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
	s.state.Store(&state{})
	s.apply(&contents{pair: newPair(cert, "")})
	return s, nil
}

func addHosts(template *x509.Certificate, hosts []string) {
	for _, host := range slices.Concat([]string{"localhost", "127.0.0.1", "::1"}, hosts) {
		ip := net.ParseIP(host)
		switch {
		case ip == nil && !slices.Contains(template.DNSNames, host):
			template.DNSNames = append(template.DNSNames, host)
		case ip != nil && !slices.ContainsFunc(template.IPAddresses, ip.Equal):
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
}
