package listen

import (
	"testing"
	"time"
)

func TestExpiryVariesByAFifth(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	least, most := now.Add(time.Hour), now
	for range 10_000 {
		e := expiry(now, 10*time.Minute)
		if e.Before(least) {
			least = e
		}
		if e.After(most) {
			most = e
		}
	}
	if d := least.Sub(now); d < 8*time.Minute || d > 8*time.Minute+5*time.Second {
		t.Errorf("earliest after %s, want 8m", d)
	}
	if d := most.Sub(now); d > 12*time.Minute || d < 12*time.Minute-5*time.Second {
		t.Errorf("latest after %s, want 12m", d)
	}
	if c := (&Conn{expires: expiry(now, 0)}); c.Expired(now.Add(time.Hour)) {
		t.Error("age 0 expires")
	}
}
