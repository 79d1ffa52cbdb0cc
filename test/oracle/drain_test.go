package oracle_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// TestDrainUnderLoad stops one replica after the other under load, while the network lags behind,
// as in a rolling update: no call may fail.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	const (
		rounds, workers = 4, 16
		lag             = 500 * time.Millisecond
		drainDelay      = 10 * lag
	)
	for _, tt := range []struct {
		name    string
		network func(a *apiclient.Server, current func() string)
	}{
		// The Service has one address, and kube-proxy sends new connections elsewhere; those that
		// are there stay with the old replica for as long as they live.
		{"new connections move", func(a *apiclient.Server, current func() string) {
			a.Endpoint = func() string { return "10.96.0.17:443" }
			a.Redirect = func(string) string { return current() }
		}},
		// With --enable-aggregator-routing each request goes to an endpoint of the Service.
		{"requests move", func(a *apiclient.Server, current func() string) { a.Endpoint = current }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ca := tlstest.NewCA(t, "oracle")
			replica := func() *webhookd {
				return serve(t, ca, func(s *setup) {
					withPlain(s)
					s.drainDelay = drainDelay
				})
			}
			var current atomic.Pointer[webhookd]
			current.Store(replica())
			var closing atomic.Int64 // answers that end their connection
			a := &apiclient.Server{Observe: func(_ *http.Request, resp *http.Response) {
				if resp != nil && resp.Close {
					closing.Add(1)
				}
			}}
			tt.network(a, func() string { return current.Load().address() })
			l := calling(t, workers, mixed(t, a.Converter(t, madeUp("Plain"), madeUpVersions(), current.Load().byService("v1"))))

			var ending sync.WaitGroup
			for range rounds {
				old, next := current.Load(), replica()
				l.More(10 * workers)
				before := closing.Load()
				old.stop()
				lagged := time.After(lag)
				wait.Until(t, "an answer that ends its connection", func() bool { return closing.Load() > before })
				<-lagged
				current.Store(next)
				ending.Go(func() {
					if err := old.wait(); err != nil {
						t.Errorf("the drained server ended with an error: %v", err)
					}
					old.noErrors()
				})
			}
			ending.Wait()
			l.More(10 * workers)
			l.NoFailures()
			current.Load().noErrors()
		})
	}
}
