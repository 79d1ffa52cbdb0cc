package selfmanaged

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// lag is the longest that a server or an API server goes on with what was.
const lag = 5 * time.Minute

// A dated value was written at a time.
type dated[T any] struct {
	at    time.Time
	value T
}

// possible are the values that a reader that lags may still see.
func possible[T any](history []dated[T], now time.Time) []T {
	var all []T
	for i, d := range history {
		if i+1 == len(history) || history[i+1].at.After(now.Add(-lag)) {
			all = append(all, d.value)
		}
	}
	return all
}

// A world is what the Secrets and the CRDs hold, and held.
type world struct {
	policy  Policy
	now     time.Time
	state   State
	leaves  []dated[*Pair]
	bundles map[string][]dated[crdwire.Bundle]
	since   time.Time // when the first leaf was there for everyone
	done    map[Action]int
	known   map[string]error // of verifications, except the time
}

// look copies the state, as a run reads it.
func (w *world) look() State {
	s := w.state
	s.CRDs = nil
	for _, name := range slices.Sorted(maps.Keys(w.bundles)) {
		history := w.bundles[name]
		s.CRDs = append(s.CRDs, CRD{Name: name, Bundle: history[len(history)-1].value})
	}
	return s
}

// do is what run.do does.
func (w *world) do(t *testing.T, step Step) {
	t.Helper()
	w.done[step.Do]++
	switch step.Do {
	case MakeCA:
		w.state.CA, w.state.Next, w.state.TrustedSince = must(newCA(&w.policy, w.now))(t), nil, time.Time{}
	case MakeNext:
		w.state.Next, w.state.TrustedSince = must(newCA(&w.policy, w.now))(t), time.Time{}
	case Distrust:
		w.state.TrustedSince = time.Time{}
	case Trust:
		w.state.TrustedSince = w.now
	case Promote:
		w.state.CA, w.state.Next = w.state.Next, nil
	case TrustInCRD:
		w.bundles[step.CRD] = append(w.bundles[step.CRD], dated[crdwire.Bundle]{w.now, step.Bundle})
	case Publish:
		w.state.Published = step.Bundle
	case Issue:
		w.state.Leaf, w.state.Published = must(newLeaf(&w.policy, w.state.CA, w.now))(t), step.Bundle
		w.leaves = append(w.leaves, dated[*Pair]{w.now, w.state.Leaf})
		if w.since.IsZero() {
			w.since = w.now.Add(lag)
		}
	case Wait:
	}
}

// law holds what may be served against what may be trusted.
func (w *world) law() error {
	if w.since.IsZero() || w.now.Before(w.since) {
		return nil
	}
	for _, leaf := range possible(w.leaves, w.now) {
		for name, history := range w.bundles {
			for _, b := range possible(history, w.now) {
				if err := w.verifies(leaf, b); err != nil {
					return fmt.Errorf("%s: at %s: %w", name, w.now, err)
				}
			}
		}
	}
	return nil
}

// verifies looks at signatures once, since they take time, and at the time always.
func (w *world) verifies(leaf *Pair, b crdwire.Bundle) error {
	b = b.Unexpired(w.now)
	key := leaf.Cert.SerialNumber.String()
	for _, ca := range b {
		key += " " + ca.SerialNumber.String()
	}
	if _, ok := w.known[key]; !ok {
		w.known[key] = b.Verifies(bundle(leaf), w.policy.Name, w.now)
	}
	if w.now.After(leaf.Cert.NotAfter) {
		return fmt.Errorf("expired on %s", leaf.Cert.NotAfter)
	}
	return w.known[key]
}

// TestNothingThatIsServedIsEverUntrusted runs for two years, every day or so, and now and then
// twice in a row; each run may end after any step, and time passes in it.
func TestNothingThatIsServedIsEverUntrusted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
			w := &world{policy: policy(), now: epoch(), done: map[Action]int{}, known: map[string]error{}, bundles: map[string][]dated[crdwire.Bundle]{}}
			for i := range 3 {
				w.bundles[fmt.Sprint("crd", i)] = []dated[crdwire.Bundle]{{w.now, nil}}
			}
			pass := func(d time.Duration) {
				for end := w.now.Add(d); w.now.Before(end); {
					w.now = w.now.Add(min(end.Sub(w.now), time.Duration(1+random.Int64N(int64(6*time.Hour)))))
					if err := w.law(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for w.now.Before(epoch().Add(730 * day)) {
				rotate := random.IntN(40) == 0
				for range random.IntN(8) {
					step := Next(w.look(), w.policy, w.now, rotate)
					if step.Do == Wait {
						break
					}
					w.do(t, step)
					pass(time.Duration(random.Int64N(int64(20 * time.Second))))
				}
				switch random.IntN(4) {
				case 0:
					pass(time.Duration(random.Int64N(int64(10 * time.Minute))))
				case 1:
					pass(time.Duration(random.Int64N(int64(2 * time.Hour))))
				default:
					pass(time.Duration(random.Int64N(int64(36 * time.Hour))))
				}
			}
			if w.done[Promote] < 6 || w.done[Issue] < 50 || w.done[MakeCA] != 1 {
				t.Errorf("too little was done: %v", w.done)
			}
			if extra := w.state.Published; len(extra) > 3 {
				t.Errorf("%d CAs are trusted", len(extra))
			}
		})
	}
}

// A leaf of another tool is replaced without a moment in which it is not trusted, and
// so is one whose CA is lost.
func TestAForeignLeafIsReplaced(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]bool{"adopted": false, "the CA is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := epoch()
			foreign := caAt(t, start)
			leaf := leafAt(t, foreign, start)
			w := &world{
				policy: policy(), now: start, since: start, done: map[Action]int{}, known: map[string]error{},
				leaves:  []dated[*Pair]{{start, leaf}},
				bundles: map[string][]dated[crdwire.Bundle]{"crd": {{start, bundle(foreign)}}},
				state:   State{Leaf: leaf},
			}
			if lose {
				w.state.Published = bundle(foreign)
			}
			for range 200 {
				for {
					step := Next(w.look(), w.policy, w.now, false)
					if step.Do == Wait {
						break
					}
					w.do(t, step)
					if err := w.law(); err != nil {
						t.Fatal(err)
					}
				}
				w.now = w.now.Add(10 * time.Minute)
				if err := w.law(); err != nil {
					t.Fatal(err)
				}
			}
			s := w.look()
			if !s.CRDs[0].Bundle.Same(bundle(s.CA)) || !s.issuedBy(s.CA) {
				t.Errorf("not replaced: %v", w.done)
			}
		})
	}
}
