package oracle_test

import (
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// TestMain silences the API server's log, which reports every slow or failed call.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
}
