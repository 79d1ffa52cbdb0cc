// Package gokinds lists kinds that no cluster has, most of whose converters misbehave. The tests of
// the control plane build webhookd with this file in the place of its own.
package gokinds

import (
	"context"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/conversion"
)

// Kinds returns the kinds.
func Kinds() []conversion.Kind {
	return []conversion.Kind{
		kind("Healthy", func(context.Context, *conversion.Object) error { return nil }),
		kind("Doodad", func(ctx context.Context, _ *conversion.Object) error {
			<-ctx.Done()
			return ctx.Err()
		}),
		kind("Gadget", func(_ context.Context, obj *conversion.Object) error {
			if os.Getenv("GADGET") == "panics" {
				panic("a test's")
			}
			_, err := obj.Rename([]string{"metadata", "name"}, []string{"metadata", "generateName"})
			return err
		}),
	}
}

func kind(name string, convert func(context.Context, *conversion.Object) error) conversion.Kind {
	return conversion.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: name}, Hub: "v1", Versions: []string{"v1beta1", "v1"},
		Converter: conversion.Func(func(ctx context.Context, obj *conversion.Object, _, _ string) error { return convert(ctx, obj) }),
	}
}
