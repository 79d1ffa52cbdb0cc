package oracle_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// overloaded is the message of a 429.
const overloaded = "webhookd is overloaded: requests in flight take all the room there is; try again"

// A holder is a kind whose conversions stay in flight until they are released.
type holder struct {
	converters.Kind

	held    atomic.Int64
	release chan struct{}
}

func newHolder() *holder {
	h := &holder{release: make(chan struct{})}
	h.Kind = newKind("Held", func(context.Context, *jsondoc.Object, string, string) error {
		h.held.Add(1)
		<-h.release
		return nil
	})
	return h
}

// A fullServer is one in which one conversion takes all the room there is.
type fullServer struct {
	*webhookd

	shed atomic.Int64 // requests answered 429
	free func()       // ends that conversion
}

// filler returns an object so large that two do not fit into a server.
func filler(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	u := named(t, group+"/v1", kind, "a")
	u.Object["data"] = strings.Repeat("x", 320<<10)
	return u
}

func fill(t *testing.T) *fullServer {
	t.Helper()
	f, h := &fullServer{}, newHolder()
	f.webhookd = serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) {
		s.kinds = []converters.Kind{plain(), h.Kind}
		s.limits.InFlightBytes, s.limits.QueueWait = 1<<20, time.Millisecond
		s.hooks.Shed = func(string) { f.shed.Add(1) }
	})
	c := f.client().Converter(t, h.GroupKind, madeUpVersions(), f.byService("v1"))
	in := filler(t, "Held")
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := c.To(in, "v2"); err != nil {
			t.Errorf("the call that fills the server: %v", err)
		}
	})
	f.free = sync.OnceFunc(func() {
		close(h.release)
		running.Wait()
	})
	t.Cleanup(f.free)
	wait.Until(t, "the server to be full", func() bool { return h.held.Load() == 1 })
	return f
}

// TestOverloadPasses holds that a call which finds the server full is made again after the second
// that the server asked for, and succeeds then.
func TestOverloadPasses(t *testing.T) {
	t.Parallel()
	for _, review := range []string{"v1", "v1beta1"} {
		t.Run(review, func(t *testing.T) {
			t.Parallel()
			f := fill(t)
			a, seen := f.client(), &recorder{}
			a.Observe = seen.observe
			c := a.Converter(t, madeUp("Plain"), madeUpVersions(), f.byService(review))

			began := time.Now()
			freed := make(chan struct{})
			go func() {
				defer close(freed)
				wait.Until(t, "the first 429", func() bool { return f.shed.Load() > 0 })
				f.free()
			}()
			_, err := c.To(filler(t, "Plain"), "v2")
			<-freed
			if err != nil {
				t.Fatal(err)
			}
			all := seen.all()
			last := len(all) - 1
			for _, shed := range all[:last] {
				if shed.Code != http.StatusTooManyRequests || shed.RetryAfter != "1" {
					t.Errorf("exchange %v, want a 429 with Retry-After: 1", shed)
				}
			}
			if last < 1 || all[last].Code != http.StatusOK {
				t.Errorf("exchanges %v, want a 200 after what was shed", all)
			}
			if took := time.Since(began); took < time.Second {
				t.Errorf("took %s, less than what the server asked for", took)
			}
			f.noErrors()
		})
	}
}

// TestOverloadStays holds how often a call is made to a server that stays full, and what the user
// reads then.
func TestOverloadStays(t *testing.T) {
	t.Parallel()
	f := fill(t)
	a, seen := f.client(), &recorder{}
	a.Observe = seen.observe
	_, err := a.Converter(t, madeUp("Plain"), madeUpVersions(), f.byService("v1")).To(filler(t, "Plain"), "v2")
	if want := "conversion webhook for " + group + "/v1, Kind=Plain failed: " + overloaded; err == nil || err.Error() != want {
		t.Errorf("the user reads\n%v\nwant\n%s", err, want)
	}
	if n := len(seen.all()); n != 11 {
		t.Errorf("%d attempts, want 11", n)
	}
}

// An exchange is what the server answered once.
type exchange struct {
	Code       int
	RetryAfter string
}

// A recorder keeps the exchanges of an apiclient.Server.
type recorder struct {
	mu        sync.Mutex
	exchanges []exchange
}

// observe is the Observe of an apiclient.Server.
func (r *recorder) observe(_ *http.Request, resp *http.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if resp != nil {
		r.exchanges = append(r.exchanges, exchange{resp.StatusCode, resp.Header.Get("Retry-After")})
	}
}

func (r *recorder) all() []exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]exchange(nil), r.exchanges...)
}
