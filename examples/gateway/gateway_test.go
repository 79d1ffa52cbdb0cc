package gateway_test

import (
	"os"
	"testing"

	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/examples/gateway"
)

func TestLaws(t *testing.T) {
	t.Parallel()
	kind, err := gateway.Kind()
	if err != nil {
		t.Fatal(err)
	}
	crd, err := os.ReadFile("crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	conversiontest.Laws(t, kind, crd, nil)
}
