package tlsreload

import (
	"crypto/tls"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// I03: without a client CA no client certificate is requested, so no chain is ever built.
func TestNoClientCertificateIsAskedFor(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	addr := listen(t, open(t, Options{Dir: secretDir(t, ca.Issue(t, tlstest.Leaf{}))}).TLSConfig())
	mustDial(t, addr, &tls.Config{
		RootCAs: ca.Pool(), ServerName: "localhost",
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			t.Error("asked for a certificate")
			return &tls.Certificate{}, nil
		},
	})
}
