//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package conversion_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

// The pair differs in all that JSON does not say of a Go value, or says in another way: nil and
// empty, pointers and values, fields that are not written, texts with another spelling.
type oddV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Count    int64               `json:"count"`
		Flag     bool                `json:"flag,omitempty"`
		Box      oddBox              `json:"box"`
		Other    *oddBox             `json:"other,omitempty"`
		Empties  []string            `json:"empties"`
		Names    []string            `json:"names,omitempty"`
		Boxes    []oddBox            `json:"boxes,omitempty"`
		Labels   map[string]string   `json:"labels,omitempty"`
		Ratio    float64             `json:"ratio,omitempty"`
		Amount   *resource.Quantity  `json:"amount,omitempty"`
		Port     *intstr.IntOrString `json:"port,omitempty"`
		At       *metav1.Time        `json:"at,omitempty"`
		OldName  string              `json:"oldName,omitempty"`
		OldCount int32               `json:"oldCount,omitempty"`
		Gone     string              `json:"gone,omitempty"`
	} `json:"spec,omitempty"`
}

type oddBox struct {
	Width int64  `json:"width,omitempty"`
	Title string `json:"title"`
}

type oddV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec oddV2Spec `json:"spec,omitempty"`
}

type oddV2Spec struct {
	Count    *int64              `json:"count,omitempty"`
	Flag     *bool               `json:"flag,omitempty"`
	Box      oddBox              `json:"box"`
	Other    *oddBox             `json:"other,omitempty"`
	Empties  []string            `json:"empties,omitempty"`
	Names    []string            `json:"names"`
	Boxes    []oddV2Box          `json:"boxes,omitempty"`
	Labels   map[string]string   `json:"labels"`
	Ratio    float64             `json:"ratio,omitempty"`
	Amount   *resource.Quantity  `json:"amount,omitempty"`
	Port     *intstr.IntOrString `json:"port,omitempty"`
	At       *metav1.Time        `json:"at,omitempty"`
	NewName  string              `json:"newName,omitempty"`
	NewCount int32               `json:"newCount"`
	memory   string
}

type oddV2Box struct {
	Width int64  `json:"width,omitempty"`
	Name  string `json:"name"`
}

func (o *oddV1) DeepCopyObject() runtime.Object { return copyByJSON(o, &oddV1{}) }
func (o *oddV2) DeepCopyObject() runtime.Object { return copyByJSON(o, &oddV2{}) }

// copyByJSON is exact for what was decoded of JSON.
func copyByJSON[T any](from, to *T) *T {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err)
	}
	return to
}

// oddities are what a pair of functions may do, each in its turn.
func oddities() map[string]func(src *oddV1, dst *oddV2) {
	return map[string]func(src *oddV1, dst *oddV2){
		"no pointers": func(_ *oddV1, dst *oddV2) { dst.Spec.Count, dst.Spec.Flag = nil, nil },
		"a time": func(src *oddV1, dst *oddV2) {
			if src.Spec.Flag && src.Spec.At == nil {
				dst.Spec.At, dst.Spec.Flag = &metav1.Time{Time: time.Unix(0, 1)}, nil
			}
		},
		"nothing":         func(*oddV1, *oddV2) {},
		"another struct":  func(src *oddV1, dst *oddV2) { dst.Spec.Box, dst.Spec.Other = *orZero(src.Spec.Other), &src.Spec.Box },
		"empty for nil":   func(src *oddV1, dst *oddV2) { dst.Spec.Empties = append([]string{}, src.Spec.Empties...) },
		"empty names":     func(src *oddV1, dst *oddV2) { dst.Spec.Names = append([]string{}, src.Spec.Names...) },
		"nil for empty":   func(src *oddV1, dst *oddV2) { dst.Spec.Names = append([]string(nil), src.Spec.Names...) },
		"empty map":       func(src *oddV1, dst *oddV2) { dst.Spec.Labels = map[string]string{} },
		"a map":           func(src *oddV1, dst *oddV2) { dst.Spec.Labels = src.Spec.Labels },
		"a quantity":      func(src *oddV1, dst *oddV2) { dst.Spec.Amount = orZero(src.Spec.Amount) },
		"memory":          func(src *oddV1, dst *oddV2) { dst.Spec.memory = src.Spec.Gone },
		"an annotation":   func(_ *oddV1, dst *oddV2) { metav1.SetMetaDataAnnotation(&dst.ObjectMeta, "a", "b") },
		"a name":          func(_ *oddV1, dst *oddV2) { dst.Name += "x" },
		"a smaller count": func(src *oddV1, dst *oddV2) { dst.Spec.NewCount = src.Spec.OldCount / 2 },
		"a source change": func(src *oddV1, _ *oddV2) { src.Spec.OldCount, src.Spec.Names = 7, nil },
	}
}

func orZero[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	return v
}

// odd converts with one oddity. It counts the conversions back that came without text.
func odd(oddity func(src *oddV1, dst *oddV2), short *int) conversion.Converter {
	var made *oddV2
	var madeBack *oddV1
	return conversion.HubSpoke("v2", conversion.NewSpoke("v1",
		func(_ context.Context, src *oddV1, dst *oddV2) error {
			if src == madeBack {
				*short++
			}
			made = dst
			in, out := &src.Spec, &dst.Spec
			*out = oddV2Spec{
				Names: in.Names, Ratio: in.Ratio, Port: in.Port, At: in.At, NewName: in.OldName, NewCount: in.OldCount,
				Count: &in.Count, Flag: &in.Flag, Empties: in.Empties, Labels: in.Labels, Box: in.Box, Other: in.Other, Amount: in.Amount,
			}
			for _, box := range in.Boxes {
				out.Boxes = append(out.Boxes, oddV2Box{box.Width, box.Title})
			}
			oddity(src, dst)
			return nil
		},
		func(_ context.Context, src *oddV2, dst *oddV1) error {
			if src == made {
				*short++
			}
			madeBack = dst
			in, out := &src.Spec, &dst.Spec
			out.Box, out.Other, out.Amount = in.Box, in.Other, in.Amount
			out.Names, out.Ratio, out.Port, out.At, out.OldName, out.OldCount = in.Names, in.Ratio, in.Port, in.At, in.NewName, in.NewCount
			if in.At != nil && in.At.Nanosecond() > 0 {
				out.At, out.Flag = nil, true
			}
			out.Empties, out.Labels, out.Gone = in.Empties, in.Labels, in.memory
			for _, box := range in.Boxes {
				out.Boxes = append(out.Boxes, oddBox{box.Width, box.Name})
			}
			if in.Count != nil {
				out.Count = *in.Count
			}
			if in.Flag != nil {
				out.Flag = *in.Flag
			}
			return nil
		}))
}

func oddCRD() []byte {
	const shared = `
		flag: {type: boolean}
		box: {type: object, nullable: true, properties: {width: {type: integer, format: int64}, title: {type: string}}}
		other: {type: object, nullable: true, properties: {width: {type: integer, format: int64}, title: {type: string}}}
		count: {type: integer, format: int64}
		empties: {type: array, nullable: true, items: {type: string}}
		names: {type: array, nullable: true, items: {type: string}}
		labels: {type: object, nullable: true, additionalProperties: {type: string}}
		amount: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: "^[0-9]{1,3}(m|Mi)?$"}
		port: {x-kubernetes-int-or-string: true, minimum: 0, maximum: 65535}
		at: {type: string, format: date-time, pattern: "^20[0-9]{2}-0[1-9]-1[0-9]T0[0-9]:0[0-9]:0[0-9]Z$"}
	`
	return crdOf(shared+`
		boxes: {type: array, items: {type: object, properties: {width: {type: integer, format: int64}, title: {type: string}}}}
		ratio: {type: number}
		oldName: {type: string}
		oldCount: {type: integer, format: int32}
		gone: {type: string}`, shared+`
		boxes: {type: array, items: {type: object, properties: {width: {type: integer, format: int64}, name: {type: string}}}}
		newName: {type: string}
		newCount: {type: integer, format: int32}`)
}

// The way back without text finds what the way back over text finds: each object converts to the
// same bytes with both.
func TestTheShortWayBackIsThatOverText(t *testing.T) {
	t.Parallel()
	for name, oddity := range oddities() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short, none := 0, 0
			typed := conversion.Must(conversion.Lossless(odd(oddity, &short), oddCRD()))
			over := odd(oddity, &none)
			text := conversion.Must(conversion.Lossless(conversion.WithHub("v2", conversion.Func(over.Convert)), oddCRD()))
			for _, from := range []string{"v1", "v2"} {
				for object := range oddObjects(t, from) {
					to := map[string]string{"v1": "v2", "v2": "v1"}[from]
					want, errText := tryConvert(t, text, object, to)
					got, errTyped := tryConvert(t, typed, object, to)
					if (errText == nil) != (errTyped == nil) {
						t.Fatalf("%s: error %v over text, %v", object, errText, errTyped)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s: over text, without (-want +got):\n%s", object, diff)
					}
				}
			}
			if none > 0 || short == 0 && !slices.Contains([]string{"a name"}, name) {
				t.Errorf("%d short ways back, and %d over text", short, none)
			}
		})
	}
}

func tryConvert(t *testing.T, kind conversion.Kind, object []byte, to string) (string, error) {
	t.Helper()
	obj, err := conversion.ParseObject(slices.Clone(object))
	if err != nil {
		t.Fatal(err)
	}
	err = kind.Convert(t.Context(), obj, to)
	return string(obj.JSON()), err
}

// oddObjects yields random objects, and variants of them with nulls and unknown fields.
func oddObjects(t *testing.T, version string) func(yield func([]byte) bool) {
	t.Helper()
	crds, err := apiserver.Parse("crd", oddCRD())
	if err != nil {
		t.Fatal(err)
	}
	g, err := generate.NewGenerator(crds[0].Version(version), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func([]byte) bool) {
		if !yield([]byte(`{"apiVersion":"g/` + version + `","kind":"K","spec":{"count":1,"empties":["a"],"flag":true,"names":["a"]}}`)) {
			return
		}
		for index := range uint64(60) {
			object := g.Object(3, index)
			if object == nil {
				continue
			}
			if !yield(object) {
				return
			}
			for variant := range lawtest.Variants(index, 3, object) {
				if !yield(variant) {
					return
				}
			}
		}
	}
}
