package clusterapi

import (
	"testing"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
)

// The laws hold for some objects of each kind of Cluster API, whose conversions keep data in an
// annotation themselves. More objects find nulls that a metav1.Duration does not read.
func TestLaws(t *testing.T) {
	t.Parallel()
	scheme := newScheme(t)
	for plural, crd := range crds(t, scheme, ".") {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			kinds, err := controllerruntime.Kinds(scheme, nil, crd)
			if err != nil {
				t.Fatal(err)
			}
			conversiontest.Laws(t, kinds[0], crd, &conversiontest.Options{Objects: 4})
		})
	}
}
