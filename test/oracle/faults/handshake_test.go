package faults_test

import (
	"crypto/tls"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// handshakes are a load of connections that are made and closed.
type handshakes struct {
	*load.Load

	served atomic.Pointer[big.Int] // the number of the certificate that was shown last
}

// shakeHands makes handshakes until it is stopped, at most so many a second, or as many as it can.
func shakeHands(t *testing.T, p *process.Process, ca *tlstest.CA, workers, rate int) *handshakes {
	t.Helper()
	h := &handshakes{}
	h.served.Store(new(big.Int))
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{Timeout: 30 * time.Second},
		Config:    &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}},
	}
	h.Load = load.Start(t, load.Options{Workers: workers, Rate: rate, Call: func(int, int) error {
		c, err := dialer.DialContext(t.Context(), "tcp", p.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		if c, ok := c.(*tls.Conn); ok {
			h.served.Store(c.ConnectionState().PeerCertificates[0].SerialNumber)
		}
		return nil
	}})
	return h
}

// shows reports whether a certificate is what a client was shown last.
func (h *handshakes) shows(pair tlstest.Pair) bool {
	return h.served.Load().Cmp(pair.Leaf.SerialNumber) == 0
}
