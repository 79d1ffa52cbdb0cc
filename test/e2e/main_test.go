package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// TestMain silences the log of client-go, which reports every failed call, and removes the
// binary that was tested. Scenarios wait more than they work, so eight run at once, or as many
// as -parallel says.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	err := flag.Set("test.parallel", "8")
	m.Run()
	if err := errors.Join(err, webhook.RemoveBuilt()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
