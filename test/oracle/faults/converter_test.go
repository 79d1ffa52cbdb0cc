package faults_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/load"
	"github.com/crdconvert/webhookd/test/oracle/process"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// TestP1ConverterPanics has one object in ten end in a panic: each of these calls is answered, with
// the right uid, that the object could not be converted. All other calls go as ever, and so does
// the process.
func TestP1ConverterPanics(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "faults")
	p := launchHostile(t, ca, []string{reviewFailed, `"msg":"converter panicked"`})
	others := start(t, alone(p), ca)
	c := strangeConverter(t, alone(p), ca, "Panicking")
	var panics atomic.Int64
	l := load.Start(t, load.Options{Workers: 4, Call: func(worker, n int) error {
		name, bad := fmt.Sprintf("p-%d-%d", worker, n), n%10 == 9
		in := strange("Panicking", name, 0)
		if bad {
			in = strange("Panicking", name, 1)
		}
		_, err := c.To(in, "v2")
		if !bad {
			return err
		}
		// The client has compared the uid before it tells the message.
		want := "conversion webhook for hostile.example.com/v1, Kind=Panicking failed: objects[0] Panicking default/" + name +
			" v1 -> v2: converter panicked"
		if panics.Add(1); !contains(err, want) {
			return fmt.Errorf("a panic was answered %w", err)
		}
		return nil
	}})
	l.More(scaled[int64](5000, 100000))
	l.NoFailures()
	others.NoFailures()
	if counted := int64(p.Scrape().Sum("webhookd_converter_panics_total")); counted != panics.Load() {
		t.Errorf("%d panics are counted, want %d", counted, panics.Load())
	}
	t.Logf("%d calls with %d panics, %d other calls", l.Calls(), panics.Load(), others.Calls())
}

// TestP3ConverterIsGreedy has a converter take memory that no limit of webhookd's knows of: it is
// the converter's own, and the container's limit is what bounds it. Others are answered meanwhile,
// and what it took is given back.
func TestP3ConverterIsGreedy(t *testing.T) {
	t.Parallel()
	takes := scaled(64, 1024) // MiB
	ca := tlstest.NewCA(t, "faults")
	p := launchHostile(t, ca, nil, "--pprof", "--memory-limit=460Mi")
	others := start(t, alone(p), ca)
	others.More(100)
	before, err := p.GC()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strangeConverter(t, alone(p), ca, "Greedy").To(strange("Greedy", "a", takes), "v2"); err != nil {
		t.Errorf("the greedy conversion: %v", err)
	}
	peak := p.PeakMemory()
	others.More(100)
	others.NoFailures()
	after, err := p.GC()
	if err != nil {
		t.Fatal(err)
	}
	if after > before+16<<20 {
		t.Errorf("the heap was %d MiB and is %d MiB", before>>20, after>>20)
	}
	t.Logf("a converter took %d MiB: peak %d MiB resident, heap %d -> %d MiB", takes, peak>>20, before>>20, after>>20)
}

// TestP2ConverterNeverReturns has converters that never return, more at a time than may: each call
// is answered that its object could not be converted before its client gives up, calls after that
// at once, and those of other kinds go as ever (I20).
func TestP2ConverterNeverReturns(t *testing.T) {
	t.Parallel()
	const stuck, mayBeStuck = 64, 8
	timeout := scaled(4*time.Second, 30*time.Second)
	ca := tlstest.NewCA(t, "faults")
	p := launchHostile(t, ca, []string{reviewFailed, "converter does not return"}, "--drain-delay=0s", "--shutdown-timeout=2s")
	others := start(t, alone(p), ca)
	others.More(100)
	a := alone(p)
	a.Timeout = timeout
	c := strangeConverter(t, a, ca, "Stuck")
	call := func() (time.Duration, error) {
		began := time.Now()
		_, err := c.To(strange("Stuck", "s", 0), "v2")
		return time.Since(began), err
	}

	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for range stuck {
		wg.Go(func() {
			d, err := call()
			if !contains(err, "failed: objects[0] Stuck default/s v1 -> v2: converter did not return before the deadline") {
				t.Errorf("a call after %s: %v", d, err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, d)
		})
	}
	wg.Wait()
	slices.Sort(took)
	if least, most := timeout-1100*time.Millisecond, timeout-100*time.Millisecond; *full && (took[0] < least || took[stuck-1] > most) {
		t.Errorf("answers came after %s to %s, want %s to %s", took[0], took[stuck-1], least, most)
	}
	counted := p.Scrape().Sum("webhookd_stuck_conversions", "Stuck")
	if counted < mayBeStuck {
		t.Errorf("%v stuck conversions are counted", counted)
	}
	var slowest time.Duration
	for range 2 * stuck {
		d, err := call()
		slowest = max(slowest, d)
		if !contains(err, "have never returned, fix the converter") {
			t.Errorf("one more call after %s: %v", d, err)
		}
	}
	if again := p.Scrape().Sum("webhookd_stuck_conversions", "Stuck"); again != counted {
		t.Errorf("%v conversions are stuck, and were %v", again, counted)
	}
	if *full && slowest > time.Second {
		t.Errorf("a call to a kind with stuck converters took %s", slowest)
	}
	others.More(100)
	others.NoFailures()
	t.Logf("%d calls with a timeout of %s were answered after %s to %s, %.0f are stuck; %d more after %s at most; %d other calls",
		stuck, timeout, took[0], took[stuck-1], counted, 2*stuck, slowest, others.Calls())
}

// TestP2ConverterReturnsLate has one return after its review was answered: it is no longer counted,
// and its kind goes on.
func TestP2ConverterReturnsLate(t *testing.T) {
	t.Parallel()
	takes := scaled(4*time.Second, time.Minute)
	ca := tlstest.NewCA(t, "faults")
	p := launchHostile(t, ca, []string{reviewFailed, "converter does not return", "converter has returned long after"})
	a := alone(p)
	a.Timeout = scaled(3*time.Second, 30*time.Second)
	c := strangeConverter(t, a, ca, "Sleeping")
	_, err := c.To(strange("Sleeping", "late", int(takes/time.Millisecond)), "v2")
	if !contains(err, "converter did not return before the deadline") {
		t.Errorf("the answer: %v", err)
	}
	if n := p.Scrape().Sum("webhookd_stuck_conversions", "Sleeping"); n != 1 {
		t.Errorf("%v stuck conversions", n)
	}
	wait.Within(t, takes+wait.Patience, "its return", func() bool { return p.Scrape().Sum("webhookd_stuck_conversions", "Sleeping") == 0 })
	if _, err := c.To(strange("Sleeping", "quick", 0), "v2"); err != nil {
		t.Errorf("the next: %v", err)
	}
	if m := p.Scrape(); m["webhookd_requests_in_flight"] != 0 {
		t.Errorf("%v requests in flight", m["webhookd_requests_in_flight"])
	}
}

// TestP2ConverterKeepsTheProcessor has one keep the only processor after a moment in which nothing
// was going on: probes are answered meanwhile.
func TestP2ConverterKeepsTheProcessor(t *testing.T) {
	t.Parallel()
	const rounds, takes = 3, 3 * time.Second
	ca := tlstest.NewCA(t, "faults")
	p := process.Launch(t, process.Options{Binary: binary(t, hostile), CA: ca, Env: []string{"GOMAXPROCS=1"}})
	c := strangeConverter(t, alone(p), ca, "Spinning")
	for range rounds {
		if _, err := c.To(strange("Spinning", "short", 0), "v2"); err != nil {
			t.Fatal(err)
		}
		wait.For(t, time.Second)
		returned := make(chan error, 1)
		go func() {
			_, err := c.To(strange("Spinning", "long", int(takes/time.Millisecond)), "v2")
			returned <- err
		}()
		wait.For(t, takes/10)
		if !p.Live(t.Context()) {
			t.Error("no answer to a probe while a converter runs")
		}
		select {
		case err := <-returned:
			t.Errorf("the answer to the probe came after that of the converter (%v)", err)
		default:
			if err := <-returned; err != nil {
				t.Error(err)
			}
		}
	}
}
