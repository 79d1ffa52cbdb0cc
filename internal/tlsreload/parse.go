package tlsreload

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A pair is a key pair that passed all checks, with its PEM text.
type pair struct {
	certPEM, keyPEM []byte
	certificate     *tls.Certificate
	event           Event
}

// holds reports whether p was made from exactly these bytes. A change of only the chain is a
// change.
func (p *pair) holds(f *files) bool {
	return p != nil && bytes.Equal(p.certPEM, f.cert) && bytes.Equal(p.keyPEM, f.key)
}

// validAt reports whether now is within the leaf's validity.
func (p *pair) validAt(now time.Time) bool {
	return !now.Before(p.event.NotBefore) && !now.After(p.event.NotAfter)
}

func newPair(cert *tls.Certificate, generation string) *pair {
	sum := sha256.Sum256(cert.Leaf.Raw)
	return &pair{
		certificate: cert,
		event: Event{
			NotBefore:   cert.Leaf.NotBefore,
			NotAfter:    cert.Leaf.NotAfter,
			Fingerprint: hex.EncodeToString(sum[:]),
			Generation:  generation,
		},
	}
}

// parsePair returns the pair in f, or all its problems.
func parsePair(f *files) (*pair, error) {
	chain, certErr := parseCertificates(f.cert)
	if certErr != nil {
		certErr = fmt.Errorf("%s: %w", f.certPath, certErr)
	}
	keyErr := checkKeyPEM(f.key)
	if keyErr != nil {
		keyErr = fmt.Errorf("%s: %w", f.keyPath, keyErr)
	}
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, err
	}
	if len(chain) > 1 && chain[0].IsCA && !chain[1].IsCA {
		return nil, fmt.Errorf("%s: the first certificate is a CA; put the leaf first, then its issuers", f.certPath)
	}
	cert, err := tls.X509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, &mismatchError{fmt.Errorf("%s: %w", f.keyPath, err)}
	}
	cert.Leaf = chain[0] // also under GODEBUG=x509keypairleaf=0
	if err := checkLeaf(cert.Leaf); err != nil {
		return nil, fmt.Errorf("%s: %w", f.certPath, err)
	}
	p := newPair(&cert, f.generation)
	p.certPEM, p.keyPEM = f.cert, f.key
	return p, nil
}

// pemBlocks decodes every block of data. pem.Decode silently skips a damaged block, which would
// shorten a chain, so pemBlocks returns an error instead.
func pemBlocks(data []byte) ([]*pem.Block, error) {
	begun := bytes.Count(data, []byte("-----BEGIN "))
	if begun == 0 {
		return nil, errors.New("no PEM block")
	}
	blocks := make([]*pem.Block, 0, begun)
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		blocks = append(blocks, block)
	}
	if damaged := begun - len(blocks); damaged > 0 {
		return nil, fmt.Errorf("%d of %d PEM blocks are cut short or damaged", damaged, begun)
	}
	return blocks, nil
}

// parseCertificates parses every CERTIFICATE block: crypto/tls looks at the leaf only.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	blocks, err := pemBlocks(data)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(certs)+1, err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("no CERTIFICATE block among the PEM blocks")
	}
	return certs, nil
}

func checkKeyPEM(data []byte) error {
	blocks, err := pemBlocks(data)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return errors.New("encrypted, and a passphrase cannot be given; store it without one")
		}
	}
	return nil
}

// checkLeaf refuses a leaf that every client would refuse, or that no handshake could use. judge
// checks its validity in time.
func checkLeaf(leaf *x509.Certificate) error {
	var problems []error
	switch key := leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < 2048 {
			problems = append(problems, fmt.Errorf("RSA key of %d bits is too short; use ECDSA P-256, or 2048 bits", bits))
		}
	case *ecdsa.PublicKey:
		// TLS 1.3 has no other curves for signatures (RFC 8446, 4.2.3).
		if !slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, key.Curve) {
			problems = append(problems, errors.New("elliptic curve is not one of TLS 1.3; use P-256"))
		}
	}
	if !forServers(leaf) {
		problems = append(problems, errors.New("extended key usage lacks server authentication"))
	}
	if len(leaf.DNSNames)+len(leaf.IPAddresses) == 0 {
		problems = append(problems, errors.New("no DNS or IP subject alternative name; clients ignore the common name"))
	}
	if leaf.NotAfter.Before(leaf.NotBefore) {
		problems = append(problems, errors.New("validity ends before it starts"))
	}
	return errors.Join(problems...)
}

// forServers follows RFC 5280, 4.2.1.12: without the extension a certificate serves any purpose.
func forServers(leaf *x509.Certificate) bool {
	if len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0 {
		return true
	}
	return slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) ||
		slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny)
}
