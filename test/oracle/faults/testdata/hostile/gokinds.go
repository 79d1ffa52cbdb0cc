// Package builtin lists the kinds that are compiled in, with some more whose converters misbehave.
// The tests of faults build webhookd with this file in the place of the other.
package gokinds

import (
	"context"
	"errors"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
)

// Kinds returns the kinds that are compiled in.
func Kinds() []conversion.Kind {
	kinds := []conversion.Kind{
		conversion.Must(crontab.Kind(crds.CronTabs, "v1beta1")),
		conversion.Must(crontab.Kind(crds.StableCronTabs, "v1")),
		conversion.Must(database.Kind(crds.Databases)),
	}
	// Sleeping sleeps for as many milliseconds as its object says.
	kinds = append(kinds, conversion.Kind{
		GroupKind: schema.GroupKind{Group: "hostile.example.com", Kind: "Sleeping"},
		Hub:       "v1", Versions: []string{"v1", "v2"},
		Converter: conversion.Func(func(_ context.Context, obj *conversion.Object, _, _ string) error {
			at, err := obj.Get("spec", "n")
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(at.JSON()))
			if err != nil {
				return errors.New("no integer: .spec.n")
			}
			time.Sleep(time.Duration(n) * time.Millisecond)
			return nil
		}),
	})
	return kinds
}
