// Package gateway converts Gateway of example.com: .spec.class of v1alpha1 is .spec.className in
// v1.
package gateway

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Kind returns the Gateway of example.com.
func Kind() converters.Kind {
	return converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Gateway"},
		Hub:       "v1",
		Versions:  []string{"v1alpha1", "v1"},
		Converter: converters.Func(convert),
	}
}

func convert(_ context.Context, obj *jsondoc.Object, from, _ string) error {
	old, now := []string{"spec", "class"}, []string{"spec", "className"}
	if from == "v1" {
		old, now = now, old
	}
	_, err := obj.Move(old, now)
	return err
}
