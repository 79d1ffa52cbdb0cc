package controlplane_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// TestMain has as many tests run at once as there are lanes of failures, which wait most of the
// time, unless -parallel says something else; and it removes what tests and webhook.Build leave.
func TestMain(m *testing.M) {
	remove, err := plane.OwnTempDir()
	report(errors.Join(err, flag.Set("test.parallel", strconv.Itoa(len(lanes())))))
	m.Run()
	report(errors.Join(webhook.RemoveBuilt(), remove()))
}

// report tells of an error that fails no test.
func report(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// progress tells, while the tests run, that this one begins and how it ends. It is the first that a
// test calls, so that the end is that of its cleanups as well.
func progress(t *testing.T) {
	t.Helper()
	begun := time.Now()
	fmt.Fprintf(os.Stdout, "begin  %s\n", t.Name())
	t.Cleanup(func() {
		verdict := "ok    "
		if t.Failed() {
			verdict = "FAILED"
		}
		fmt.Fprintf(os.Stdout, "%s %s (%.1f s)\n", verdict, t.Name(), time.Since(begun).Seconds())
	})
}
