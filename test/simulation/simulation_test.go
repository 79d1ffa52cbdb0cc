// Package simulation_test runs clusters in memory: an API server of one kind with storage,
// versions, watches and server-side apply, two replicas of webhookd with rules that change, and
// clients. All of a cluster follows from its seed.
package simulation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

//nolint:gochecknoglobals // flags
var (
	seeds = flag.Uint64("seeds", 100, "number of clusters")
	first = flag.Uint64("seed", 1, "seed of the first cluster")
)

// An event is what one client, or who manages the cluster, does at a time.
type event struct {
	action string
	at     time.Duration
	seed   uint64
	slot   int
}

// plan returns what happens in a cluster. Many events are near others.
func plan(seed uint64) []event {
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a cluster that can be made again
	events := make([]event, 10+rng.IntN(30))
	var at time.Duration
	for i := range events {
		at += time.Duration(rng.Int64N(int64([]time.Duration{time.Second, 30 * time.Second, 5 * time.Minute}[rng.IntN(3)])))
		events[i] = event{actions()[rng.IntN(len(actions()))], at, rng.Uint64(), i + 1}
	}
	return events
}

// run returns what went wrong in a cluster in which events happen, or nothing.
func run(t *testing.T, k *kind, events []event, trace func(string, ...any)) (failure string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		began := time.Now()
		c := &cluster{
			kind: k, t: t, storage: "v1", stored: map[string]*stored{}, changed: began.Add(-time.Hour),
			watches: map[string]map[string]string{}, intents: map[string]intent{},
		}
		c.trace = func(format string, a ...any) {
			if trace != nil {
				trace("%8s "+format, append([]any{time.Since(began).Round(time.Millisecond)}, a...)...)
			}
		}
		c.replicas = [2]*replica{newReplica(c), newReplica(c)}
		var clients sync.WaitGroup
		for _, e := range events {
			clients.Go(func() {
				time.Sleep(e.at/slots*slots + time.Duration(e.slot)) //nolint:forbidigo // in the bubble's time
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.failure == "" {
					(&call{c, rand.New(rand.NewPCG(e.seed, 2)), e.slot}).act(e.action) //nolint:gosec // as above
				}
			})
		}
		clients.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failure == "" {
			(&call{c, rand.New(rand.NewPCG(1, 3)), 0}).judgeAtRest() //nolint:gosec // as above
		}
		failure = c.failure
	})
	return failure
}

// shrink drops events as long as there is a failure of the same kind.
func shrink(t *testing.T, k *kind, events []event, failure string) []event {
	t.Helper()
	kindOf, _, _ := strings.Cut(failure, ":")
	for size := len(events) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(events); {
			fewer := slices.Delete(slices.Clone(events), i, i+size)
			if strings.HasPrefix(run(t, k, fewer, nil), kindOf) {
				events = fewer
			} else {
				i += size
			}
		}
	}
	return events
}

func TestClustersLoseNothing(t *testing.T) {
	t.Parallel()
	k := readKind(t)
	var next atomic.Uint64
	for worker := range 4 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for !t.Failed() {
				i := next.Add(1) - 1
				if i >= *seeds {
					return
				}
				events := plan(*first + i)
				failure := run(t, k, events, nil)
				if failure == "" {
					continue
				}
				events = shrink(t, k, events, failure)
				var lines []string
				failure = run(t, k, events, func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) })
				t.Errorf("seed %d (-seeds=1 -seed=%d)\n%s\n%s", *first+i, *first+i, strings.Join(lines, "\n"), failure)
			}
		})
	}
}

func TestASeedIsAlwaysTheSameCluster(t *testing.T) {
	t.Parallel()
	k := readKind(t)
	for seed := range uint64(10) {
		var traces [2][]string
		for i := range traces {
			if failure := run(t, k, plan(seed), func(format string, a ...any) { traces[i] = append(traces[i], fmt.Sprintf(format, a...)) }); failure != "" {
				t.Fatal(failure)
			}
		}
		if diff := cmp.Diff(traces[0], traces[1]); diff != "" {
			t.Errorf("seed %d:\n%s", seed, diff)
		}
	}
}
