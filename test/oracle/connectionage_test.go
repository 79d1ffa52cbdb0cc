package oracle_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// TestConnectionAge holds that connections which have come of age are renewed without a failed
// call.
func TestConnectionAge(t *testing.T) {
	t.Parallel()
	const (
		workers = 8
		age     = 500 * time.Millisecond
	)
	w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) {
		withPlain(s)
		s.limits.ConnectionAge = age
	})
	var closing atomic.Int64
	a := w.client()
	a.Observe = func(_ *http.Request, resp *http.Response) {
		if resp != nil && resp.Close {
			closing.Add(1)
		}
	}
	l := calling(t, workers, mixed(t, a.Converter(t, madeUp("Plain"), madeUpVersions(), w.byService("v1"))))
	wait.Until(t, "all connections to be renewed three times", func() bool { return closing.Load() >= 3*workers })
	l.NoFailures()
	w.noErrors()
	if dials, closed, calls := a.Dials(), closing.Load(), l.Calls(); dials < closed || closed == calls {
		t.Errorf("%d connections for %d calls, %d of which ended theirs: want as many, and some calls that did not", dials, calls, closed)
	}
}
