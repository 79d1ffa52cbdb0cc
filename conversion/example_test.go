package conversion_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/conversion"
)

// widgetCRD is the text of a CRD, which a program has with go:embed.
const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, format: int64}
              color: {type: string}
  - name: v1alpha1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, format: int64}
`

// resize renames the field that both versions have. It forgets the color, which v1alpha1 lacks.
func resize(_ context.Context, obj *conversion.Object, from, _ string) error {
	if from == "v1" {
		_, err := obj.Rename([]string{"spec", "replicas"}, []string{"spec", "size"})
		return err
	}
	_, err := obj.Rename([]string{"spec", "size"}, []string{"spec", "replicas"})
	return err
}

func mustParse(text string) *conversion.Object {
	obj, err := conversion.ParseObject([]byte(text))
	if err != nil {
		panic(err)
	}
	return obj
}

// resized is the kind of widgetCRD, converted by resize.
func resized() conversion.Kind {
	return conversion.Must(conversion.Lossless(conversion.Func(resize), []byte(widgetCRD)))
}

const blue = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"replicas":3,"color":"blue"}}`

// The converter knows nothing of the color. It comes back, and so would anything else.
func ExampleLossless() {
	kind, err := conversion.Lossless(conversion.Func(resize), []byte(widgetCRD))
	if err != nil {
		fmt.Println(err)
		return
	}
	obj, ctx := mustParse(blue), context.Background()
	if err := kind.Convert(ctx, obj, "v1alpha1"); err != nil {
		fmt.Println(err)
	}
	spec, _ := obj.Get("spec")
	fmt.Println(string(spec.JSON()))
	if err := spec.Set(5, "size"); err != nil {
		fmt.Println(err)
	}
	if err := kind.Convert(ctx, obj, "v1"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(string(obj.JSON()))
	// Output:
	// {"size":3}
	// {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"replicas":5,"color":"blue"}}
}

// Without Must, a program returns the error.
func ExampleMust() {
	kind := conversion.Must(conversion.Lossless(conversion.Func(resize), []byte(widgetCRD)))
	fmt.Println(kind.GroupKind, kind.Versions, kind.Hub)
	// Output: Widget.example.com [v1 v1alpha1] v1
}

// A Kind that is written out has no CRD. It loses what its converter loses: the color.
func ExampleKind() {
	kind := conversion.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Hub:       "v1",
		Versions:  []string{"v1", "v1alpha1"},
		Converter: conversion.Func(resize),
	}
	obj := mustParse(`{"apiVersion":"example.com/v1","kind":"Widget","spec":{"replicas":3}}`)
	fmt.Println(kind.Convert(context.Background(), obj, "v1alpha1"))
	fmt.Println(string(obj.JSON()))
	fmt.Println(kind.Convert(context.Background(), obj, "v2"))
	// Output:
	// <nil>
	// {"apiVersion":"example.com/v1alpha1","kind":"Widget","spec":{"size":3}}
	// cannot be converted to v2, which is not a version of Widget.example.com: .
}

// Each version converts to and from v1, whatever version the CRD stores.
func ExampleWithHub() {
	converter := conversion.WithHub("v1alpha1", conversion.Func(resize))
	kind := conversion.Must(conversion.Lossless(converter, []byte(widgetCRD)))
	fmt.Println(kind.Hub)
	// Output: v1alpha1
}

// A function over the text of an object touches what it names. The rest keeps its text.
func ExampleFunc() {
	obj := mustParse(`{"spec":{"replicas":3, "ratio":1.10}}`)
	err := conversion.Func(resize).Convert(context.Background(), obj, "v1", "v1alpha1")
	fmt.Println(string(obj.JSON()), err)
	// Output: {"spec":{ "ratio":1.10,"size":3}} <nil>
}

// An existing function over unstructured objects stays as it is.
func ExampleFromUnstructured() {
	converter := conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
		old, current := "size", "replicas"
		if from == "v1" {
			old, current = current, old
		}
		n, found, err := unstructured.NestedInt64(u.Object, "spec", old)
		if err != nil || !found {
			return err
		}
		unstructured.RemoveNestedField(u.Object, "spec", old)
		return unstructured.SetNestedField(u.Object, n, "spec", current)
	})
	kind := conversion.Must(conversion.Lossless(converter, []byte(widgetCRD)))
	obj := mustParse(blue)
	err := kind.Convert(context.Background(), obj, "v1alpha1")
	spec, _ := obj.Get("spec")
	fmt.Println(string(spec.JSON()), err)
	// Output: {"size":3} <nil>
}

// WidgetV1 and WidgetV1alpha1 are types as an operator has them.
type WidgetV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Replicas int64  `json:"replicas,omitempty"`
		Color    string `json:"color,omitempty"`
	} `json:"spec"`
}

type WidgetV1alpha1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size int64 `json:"size,omitempty"`
	} `json:"spec"`
}

func toV1(_ context.Context, src *WidgetV1alpha1, dst *WidgetV1) error {
	dst.Spec.Replicas = src.Spec.Size
	return nil
}

func toV1alpha1(_ context.Context, src *WidgetV1, dst *WidgetV1alpha1) error {
	dst.Spec.Size = src.Spec.Replicas
	return nil
}

func ExampleHubSpoke() {
	converter := conversion.HubSpoke("v1", conversion.NewSpoke("v1alpha1", toV1, toV1alpha1))
	kind := conversion.Must(conversion.Lossless(converter, []byte(widgetCRD)))
	obj := mustParse(blue)
	err := kind.Convert(context.Background(), obj, "v1alpha1")
	spec, _ := obj.Get("spec")
	fmt.Println(string(spec.JSON()), err)
	// Output: {"size":3} <nil>
}

func ExampleNewSpoke() {
	spoke := conversion.NewSpoke("v1alpha1", toV1, toV1alpha1)
	obj := mustParse(`{"spec":{"size":3}}`)
	err := conversion.HubSpoke("v1", spoke).Convert(context.Background(), obj, "v1alpha1", "v1")
	fmt.Println(string(obj.JSON()), err)
	// Output: {"spec":{"replicas":3}} <nil>
}

// The types come from a runtime.Scheme, for example.
func ExampleFromTypes() {
	types := map[string]func() metav1.Object{
		"v1":       func() metav1.Object { return &WidgetV1{} },
		"v1alpha1": func() metav1.Object { return &WidgetV1alpha1{} },
	}
	converter := conversion.FromTypes("v1", types, func(ctx context.Context, src, dst metav1.Object) error {
		switch src := src.(type) {
		case *WidgetV1:
			return toV1alpha1(ctx, src, dst.(*WidgetV1alpha1))
		case *WidgetV1alpha1:
			return toV1(ctx, src, dst.(*WidgetV1))
		}
		return nil
	})
	obj := mustParse(`{"spec":{"size":3}}`)
	err := converter.Convert(context.Background(), obj, "v1alpha1", "v1")
	fmt.Println(string(obj.JSON()), err)
	// Output: {"spec":{"replicas":3}} <nil>
}

func ExampleNewRegistry() {
	registry, err := conversion.NewRegistry(resized())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, kind := range registry.Kinds() {
		fmt.Println(kind.GroupKind)
	}
	_, found := registry.Lookup(schema.GroupKind{Group: "example.com", Kind: "Gadget"})
	fmt.Println(found)
	_, err = conversion.NewRegistry(resized(), resized())
	fmt.Println(err)
	// Output:
	// Widget.example.com
	// false
	// two converters for one kind, keep one: Widget.example.com
}

// A Registry finds the kind of an object by its apiVersion and kind.
func ExampleRegistry() {
	registry, err := conversion.NewRegistry(resized())
	if err != nil {
		fmt.Println(err)
		return
	}
	obj := mustParse(`{"apiVersion":"example.com/v1alpha1","kind":"Widget","spec":{"size":3}}`)
	err = registry.Convert(context.Background(), obj, "v1")
	fmt.Println(string(obj.JSON()), err)
	// Output: {"apiVersion":"example.com/v1","kind":"Widget","spec":{"replicas":3}} <nil>
}
