package scenario

import (
	"errors"
	"testing"
	"time"
)

// Patience is how long a scenario waits for what should happen soon.
const Patience = 60 * time.Second

// errNotYet is for those who have nothing better to say.
var errNotYet = errors.New("not yet")

// Eventually waits until ok, and fails the test after Patience.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	Succeeds(t, what, func() error {
		if ok() {
			return nil
		}
		return errNotYet
	})
}

// Succeeds waits until try returns no error, and fails the test with the last one after Patience.
func Succeeds(t *testing.T, what string, try func() error) {
	t.Helper()
	SucceedsWithin(t, Patience, what, try)
}

// SucceedsWithin is Succeeds with another patience.
func SucceedsWithin(t *testing.T, patience time.Duration, what string, try func() error) {
	t.Helper()
	if err := retry(patience, try); err != nil {
		t.Fatalf("waited too long for %s: %v", what, err)
	}
}

// retry tries again and again until there is no error. It returns the last one after the patience.
func retry(patience time.Duration, try func() error) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-ticker.C
	}
}
