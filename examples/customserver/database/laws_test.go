package database_test

import (
	"testing"

	"github.com/crdconvert/webhookd/examples/customserver/database"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

func TestLaws(t *testing.T) {
	t.Parallel()
	kind := database.Kind()
	err := roundtrip.Laws(t.Context(), &kind,
		[]byte(`{"apiVersion":"example.com/v1alpha1","kind":"Database","metadata":{"name":"a"},"spec":{"engine":"","backup":"@daily"}}`),
		[]byte(`{"apiVersion":"example.com/v1beta1","kind":"Database","spec":{"storageGB":1,"backupPolicy":{"retentionDays":0}}}`),
		[]byte(`{"apiVersion":"example.com/v1","kind":"Database","spec":{"storageGiB":0,"backupPolicy":{}},"status":{"ready":false}}`),
	)
	if err != nil {
		t.Error(err)
	}
}
