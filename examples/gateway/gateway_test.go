package gateway_test

import (
	"testing"

	"github.com/crdconvert/webhookd/examples/gateway"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

func TestLaws(t *testing.T) {
	t.Parallel()
	kind := gateway.Kind()
	err := roundtrip.Laws(t.Context(), &kind,
		[]byte(`{"apiVersion":"example.com/v1alpha1","kind":"Gateway","metadata":{"name":"a"},"spec":{"class":"nginx","replicas":2}}`),
		[]byte(`{"apiVersion":"example.com/v1","kind":"Gateway","metadata":{"name":"a"},"spec":{"className":"nginx","replicas":2}}`),
	)
	if err != nil {
		t.Error(err)
	}
}
