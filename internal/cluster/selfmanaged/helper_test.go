package selfmanaged

import (
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

const day = 24 * time.Hour

// epoch is when the clocks of these tests start.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func policy() Policy {
	return Policy{Name: "webhookd.ns.svc", CAValidity: 120 * day, LeafValidity: 20 * day, RenewBefore: 7 * day, StepDelay: time.Hour, AutoRotate: true}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func caAt(t *testing.T, now time.Time) *Pair {
	t.Helper()
	p := policy()
	return must(newCA(&p, now))(t)
}

func leafAt(t *testing.T, ca *Pair, now time.Time) *Pair {
	t.Helper()
	p := policy()
	return must(newLeaf(&p, ca, now))(t)
}

func bundle(pairs ...*Pair) crdwire.Bundle {
	b := make(crdwire.Bundle, 0, len(pairs))
	for _, p := range pairs {
		b = append(b, p.Cert)
	}
	return b
}
