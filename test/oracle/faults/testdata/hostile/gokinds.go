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
	for name, convert := range map[string]func(n int){
		// Each is given the integer .spec.n of its object.
		"Sleeping": func(n int) { time.Sleep(time.Duration(n) * time.Millisecond) },
		"Spinning": func(n int) {
			for end := time.Now().Add(time.Duration(n) * time.Millisecond); time.Now().Before(end); {
			}
		},
	} {
		kinds = append(kinds, conversion.Kind{
			GroupKind: schema.GroupKind{Group: "hostile.example.com", Kind: name},
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
				convert(n)
				return nil
			}),
		})
	}
	return kinds
}
