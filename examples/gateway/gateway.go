// Package gateway converts Gateway of example.com: .spec.class of v1alpha1 is .spec.className in
// v1.
package gateway

import (
	"context"
	_ "embed"

	"github.com/crdconvert/webhookd/conversion"
)

//go:embed crd.yaml
var crd []byte

// Kind returns the Gateway of example.com.
func Kind() (conversion.Kind, error) { return conversion.Lossless(conversion.Func(convert), crd) }

func convert(_ context.Context, obj *conversion.Object, from, _ string) error {
	old, now := []string{"spec", "class"}, []string{"spec", "className"}
	if from == "v1" {
		old, now = now, old
	}
	_, err := obj.Rename(old, now)
	return err
}
