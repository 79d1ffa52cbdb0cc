package faults_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/load"
)

// A footprint is what a process keeps while nothing happens.
type footprint struct {
	heap        int64 // bytes, after its garbage was collected
	goroutines  int
	descriptors int
}

// rest returns the footprint once no connection of a client is left.
func rest(t *testing.T, p *process.Process, client *poster, fewest int) footprint {
	t.Helper()
	client.client.CloseIdleConnections()
	wait.Until(t, "the connections to end", func() bool { return p.Descriptors() <= fewest })
	heap, err := p.GC()
	if err != nil {
		t.Fatal(err)
	}
	metrics := p.Scrape()
	if held := metrics["webhookd_request_bytes_in_flight"]; held != 0 {
		t.Errorf("%v bytes are counted that no request has", held)
	}
	return footprint{heap: heap, goroutines: int(metrics["go_goroutines"]), descriptors: p.Descriptors()}
}

// TestS1Soak makes many reviews, each with values of its own; none of them may show in another
// (I34). Next to them, requests end in all other ways. Then it compares what the process keeps with
// what it kept after the first ones (I23).
func TestS1Soak(t *testing.T) {
	t.Parallel()
	const warmUp, slack = 5000, 2
	ca := tlstest.NewCA(t, "faults")
	p := launch(t, ca, "--pprof")
	p.Tolerate(reviewFailed, `"msg":"body rejected"`)
	client := newPoster(t, p, ca)
	idle := p.Descriptors() + slack
	bodies := canaryBodies()
	run := func(enough func(l *load.Load) bool) *load.Load {
		l := load.Start(t, load.Options{Workers: workers, Durations: true, Call: func(worker, n int) error {
			return client.ownCanary(t, bodies[n%len(bodies)], fmt.Sprintf("canary-%04d-%012d-", worker, n))
		}})
		others := load.Start(t, load.Options{Workers: 2, Rate: 500, Call: func(_, n int) error {
			return client.endOtherwise(t.Context(), p.Addr, n)
		}})
		for !enough(l) {
			wait.For(t, 10*time.Millisecond)
		}
		l.NoFailures()
		others.NoFailures()
		return l
	}
	made := func(n int64) func(l *load.Load) bool { return func(l *load.Load) bool { return l.Calls() >= n } }

	run(made(warmUp))
	before := rest(t, p, client, idle)
	var calls int64
	p99 := make([]time.Duration, 0, 3)
	began := time.Now()
	for _, tenths := range []int64{1, 8, 1} {
		enough := made(scaled[int64](100_000, 1_000_000) * tenths / 10)
		if *soak > 0 {
			end := time.Now().Add(*soak * time.Duration(tenths) / 10)
			enough = func(*load.Load) bool { return time.Now().After(end) }
		}
		l := run(enough)
		calls += l.Calls()
		p99 = append(p99, load.Percentile(l.Durations(), 99))
	}
	took := time.Since(began)
	after := rest(t, p, client, idle)

	if grown := after.heap - before.heap; grown > 5<<20 {
		t.Errorf("the heap has grown by %d KiB", grown>>10)
	}
	if grown := after.goroutines - before.goroutines; grown > slack {
		t.Errorf("%d more goroutines", grown)
	}
	if grown := after.descriptors - before.descriptors; grown > slack {
		t.Errorf("%d more descriptors", grown)
	}
	t.Logf("%d reviews in %s: heap %d -> %d KiB, goroutines %d -> %d, descriptors %d -> %d, p99 of tenths 1, 2 to 9 and 10 %s, peak %d MiB",
		calls, took.Round(time.Millisecond), before.heap>>10, after.heap>>10, before.goroutines, after.goroutines,
		before.descriptors, after.descriptors, p99, p.PeakMemory()>>20)
}

// placeholder has the place and the length of a canary.
const placeholder = "canary-wwww-nnnnnnnnnnnn-"

// canaryBodies are reviews of several sizes whose objects all have the placeholder in every field
// that can hold it.
func canaryBodies() [][]byte {
	sizes := []int{1, 1, 1, 1, 1, 1, 10, 1, 1, 1, 1, 1, 1, 1, 1, 2}
	bodies := make([][]byte, 0, len(sizes))
	for _, objects := range sizes {
		list := make([][]byte, objects)
		for i := range list {
			list[i] = fmt.Appendf(nil, `{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"`+placeholder+`%d",`+
				`"labels":{"a":"`+placeholder+`"},"annotations":{"b":"`+placeholder+`"}},"hostPort":"`+placeholder+`:1",`+
				`"spec":{"image":"`+placeholder+`","`+placeholder+`":[1]}}`, i)
		}
		bodies = append(bodies, reviewtest.Review("apiextensions.k8s.io/v1", "example.com/v1", list...))
	}
	return bodies
}

// endOtherwise makes a request that is refused, whose review fails, whose answer is not read, or
// whose body does not come to its end.
func (p *poster) endOtherwise(ctx context.Context, address string, n int) error {
	unknown := reviewtest.Review("apiextensions.k8s.io/v1", "example.com/v1", []byte(`{"apiVersion":"example.com/v1beta1","kind":"Nothing"}`))
	bodies := []string{"", `{"kind":`, string(unknown)}
	if i := n % (len(bodies) + 2); i < len(bodies) {
		_, _, err := p.post(ctx, []byte(bodies[i]))
		return err
	}
	config := p.client.Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // as newPoster makes it
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(conn, "%s%d\r\n\r\n%s", requestHead, len(unknown)+n%2, unknown)
	return errors.Join(err, conn.Close())
}

// ownCanary sends a body with the canary in place of the placeholder, and checks that the answer
// has it as often, and no other.
func (p *poster) ownCanary(t *testing.T, body []byte, canary string) error {
	t.Helper()
	own := bytes.ReplaceAll(body, []byte(placeholder), []byte(canary))
	code, answer, err := p.post(t.Context(), own)
	if err != nil {
		return err
	}
	want := bytes.Count(own, []byte(canary))
	if found, all := bytes.Count(answer, []byte(canary)), bytes.Count(answer, []byte("canary-")); code != http.StatusOK || found != want || all != want {
		return fmt.Errorf("answer %d with %d canaries, %d of them its own, of %d: %.300s", code, all, found, want, answer)
	}
	return nil
}
