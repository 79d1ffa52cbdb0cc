package oracle_test

import (
	"bytes"
	"math/big"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// TestCertificateSwap replaces the certificate many times, and the CA once, while each call makes a
// connection of its own: no handshake may fail, and each certificate is served soon.
func TestCertificateSwap(t *testing.T) {
	t.Parallel()
	const swaps, workers = 90, 8
	before, after := tlstest.NewCA(t, "before"), tlstest.NewCA(t, "after")
	w := serve(t, before, func(s *setup) {
		withPlain(s)
		s.limits.ConnectionAge = 1 // one call a connection
	})

	var served atomic.Pointer[big.Int]
	served.Store(new(big.Int))
	var handshakes atomic.Int64
	a := w.client()
	a.Observe = func(_ *http.Request, resp *http.Response) {
		if resp != nil {
			handshakes.Add(1)
			served.Store(resp.TLS.PeerCertificates[0].SerialNumber)
		}
	}
	// A change of the CRD makes a new converter. The calls that began with the old one are waited
	// for, as an operator would give the API server the time to see a new caBundle.
	var mu sync.RWMutex
	var call func(n int) error
	trust := func(bundle ...[]byte) {
		h := w.byService("v1")
		h.CABundle = bytes.Join(bundle, nil)
		next := mixed(t, a.Converter(t, madeUp("Plain"), madeUpVersions(), h))
		mu.Lock()
		defer mu.Unlock()
		call = next
	}
	trust(before.PEM)
	l := calling(t, workers, func(n int) error {
		mu.RLock()
		defer mu.RUnlock()
		return call(n)
	})

	ca, took := before, make([]time.Duration, 0, swaps)
	for i := range swaps {
		switch i {
		case swaps / 3:
			trust(before.PEM, after.PEM)
			ca = after
		case 2 * swaps / 3:
			trust(after.PEM)
		}
		pair := ca.Issue(t, tlstest.Leaf{Hosts: []string{apiclient.ServiceHost}})
		began := time.Now()
		tlstest.SwapSecretDir(t, w.secret, pair.Files())
		wait.Until(t, "the new certificate", func() bool { return served.Load().Cmp(pair.Leaf.SerialNumber) == 0 })
		took = append(took, time.Since(began))
	}
	l.NoFailures()
	w.noErrors()
	if calls := l.Calls(); a.Dials() < calls || handshakes.Load() < calls {
		t.Errorf("%d connections and %d handshakes for %d calls, want one a call", a.Dials(), handshakes.Load(), calls)
	}
	slices.Sort(took)
	t.Logf("%d calls, %d swaps, new certificate seen after %s at most", l.Calls(), swaps, took[len(took)-1])
}
