package oracle_test

import (
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// calling starts a load of that many workers.
func calling(t *testing.T, workers int, call func(n int) error) *load.Load {
	t.Helper()
	return load.Start(t, load.Options{Workers: workers, Call: func(_, n int) error { return call(n) }})
}

// mixed returns a call that converts single objects and, now and then, a list of fifty.
func mixed(t *testing.T, c *apiclient.Converter) func(n int) error {
	t.Helper()
	single := named(t, group+"/v1", "Plain", "a")
	many := list(group+"/v2", "Plain", slices.Repeat([]*unstructured.Unstructured{single}, 50)...)
	return func(n int) error {
		if n%16 == 15 {
			_, err := c.To(many, "v2")
			return err
		}
		_, err := c.To(single, "v2")
		return err
	}
}

func withPlain(s *setup) { s.kinds = []converters.Kind{plain()} }
