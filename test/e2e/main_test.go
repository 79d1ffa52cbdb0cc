package e2e_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// TestMain silences the API server's log, which reports every slow or failed call, and removes the
// binary that was tested.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
	if err := webhook.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
