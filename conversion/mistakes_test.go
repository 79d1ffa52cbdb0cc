//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package conversion_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
)

type mistakenSpoke struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Owner    string   `json:"owner,omitempty"`
		Weight   int64    `json:"weight,omitempty"`
		Steps    []string `json:"steps,omitempty"`
		Args     []string `json:"args"`
		Replicas *int32   `json:"replicas,omitempty"`
		Host     string   `json:"host,omitempty"`
	} `json:"spec,omitempty"`
}

type mistakenHub struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Share    float64  `json:"share,omitempty"`
		Stages   []string `json:"stages,omitempty"`
		Args     []string `json:"args,omitempty"`
		Replicas int32    `json:"replicas,omitempty"`
		Address  string   `json:"address,omitempty"`
		Region   string   `json:"region,omitempty"`
	} `json:"spec,omitempty"`
}

// mistaken is a pair of functions with the five classic mistakes: a dropped field (owner, region),
// an int64 that goes through a float (weight), a lost order (steps), an empty list that becomes
// none (args), and a default that overwrites zero (replicas).
func mistaken() conversion.Converter {
	return conversion.HubSpoke("v2", conversion.NewSpoke("v1",
		func(_ context.Context, src *mistakenSpoke, dst *mistakenHub) error {
			dst.Spec.Share = float64(src.Spec.Weight)
			dst.Spec.Stages = slices.Sorted(slices.Values(src.Spec.Steps))
			dst.Spec.Args = src.Spec.Args
			if dst.Spec.Replicas = 1; src.Spec.Replicas != nil && *src.Spec.Replicas != 0 {
				dst.Spec.Replicas = *src.Spec.Replicas
			}
			dst.Spec.Address = src.Spec.Host
			return nil
		},
		func(_ context.Context, src *mistakenHub, dst *mistakenSpoke) error {
			dst.Spec.Weight = int64(src.Spec.Share)
			dst.Spec.Steps = slices.Sorted(slices.Values(src.Spec.Stages))
			dst.Spec.Args = src.Spec.Args
			dst.Spec.Replicas = &src.Spec.Replicas
			dst.Spec.Host = src.Spec.Address
			return nil
		}))
}

func mistakenCRD() []byte {
	return crdOf(`
		owner: {type: string}
		weight: {type: integer, format: int64}
		steps: {type: array, items: {type: string}}
		args: {type: array, items: {type: string}}
		replicas: {type: integer, format: int32, default: 1}
		host: {type: string}`, `
		share: {type: number}
		stages: {type: array, items: {type: string}}
		args: {type: array, items: {type: string}}
		replicas: {type: integer, format: int32}
		address: {type: string}
		region: {type: string}`)
}

func TestLosslessMendsTheClassicMistakes(t *testing.T) {
	t.Parallel()
	kind := conversion.Must(conversion.Lossless(mistaken(), mistakenCRD()))
	conversiontest.Laws(t, kind, mistakenCRD(), &conversiontest.Options{Objects: 200})
}

// Without Lossless the same pair breaks the first law.
func TestTheClassicMistakesAreFound(t *testing.T) {
	t.Parallel()
	kind := conversion.Must(conversion.Lossless(mistaken(), mistakenCRD()))
	kind.Converter = mistaken()
	found := &recorder{TB: t}
	func() {
		defer func() { _ = recover() }()
		conversiontest.Laws(found, kind, mistakenCRD(), nil)
	}()
	if !strings.Contains(found.text, "law L1 round trip does not hold") {
		t.Errorf("found %q", found.text)
	}
}

// A recorder is a test that notes how it fails.
type recorder struct {
	testing.TB

	text string
}

func (r *recorder) Fatal(args ...any) {
	r.text = fmt.Sprint(args...)
	panic("failed")
}
