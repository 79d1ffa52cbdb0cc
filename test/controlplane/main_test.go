package controlplane_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

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

// report prints an error that fails no test.
func report(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
