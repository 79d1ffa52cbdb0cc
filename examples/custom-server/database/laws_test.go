package database_test

import (
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
)

func TestLaws(t *testing.T) {
	t.Parallel()
	kind := conversion.Must(database.Kind(crds.Databases))
	conversiontest.Laws(t, kind, crds.Databases, &conversiontest.Options{Samples: [][]byte{
		[]byte(`{"apiVersion":"example.com/v1alpha1","kind":"Database","metadata":{"name":"a"},"spec":{"engine":"","backup":"@daily"}}`),
		[]byte(`{"apiVersion":"example.com/v1beta1","kind":"Database","spec":{"storageGB":1,"backupPolicy":{"retentionDays":0}}}`),
		[]byte(`{"apiVersion":"example.com/v1","kind":"Database","spec":{"storageGiB":0,"backupPolicy":{}},"status":{"ready":false}}`),
	}})
}
