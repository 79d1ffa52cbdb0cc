package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/rules"
)

const crd = `
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
        {type: object, properties: {spec: {type: object, properties: {name: {type: string}}}}}
  - name: v1alpha1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        {type: object, properties: {spec: {type: object, properties: {title: {type: string}}}}}
`

const widgets = `
apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: widgets.example.com}
spec:
  hub: v1
  versions:
  - name: v1alpha1
    rules:
    - spoke: .spec.title
      hub: .spec.name
`

// atV1 returns what becomes of a Widget at v1.
func atV1(ctx context.Context, kinds []conversion.Kind) (string, error) {
	registry, err := conversion.NewRegistry(kinds...)
	if err != nil {
		return "", err
	}
	obj, err := conversion.ParseObject([]byte(`{"apiVersion":"example.com/v1alpha1","kind":"Widget","spec":{"title":"a"}}`))
	if err != nil {
		return "", err
	}
	err = registry.Convert(ctx, obj, "v1")
	return string(obj.JSON()), err
}

// A program has its rules in a folder, with os.DirFS or go:embed.
func ExampleLoad() {
	files := fstest.MapFS{"crds/widgets.yaml": {Data: []byte(crd)}, "rules.yaml": {Data: []byte(widgets)}}
	kinds, err := rules.Load(context.Background(), files, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(atV1(context.Background(), kinds))
	// Output: {"apiVersion":"example.com/v1","kind":"Widget","spec":{"name":"a"}} <nil>
}

// mapText makes a function of one value one over the values of a rule.
func mapText(change func(string) string) func(context.Context, []json.RawMessage) ([]json.RawMessage, error) {
	return func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) {
		if in[0] == nil {
			return []json.RawMessage{nil}, nil
		}
		var text string
		if err := json.Unmarshal(in[0], &text); err != nil {
			return nil, err
		}
		out, err := json.Marshal(change(text))
		return []json.RawMessage{out}, err
	}
}

// Rules call the function by its name.
func ExampleFunction() {
	functions := map[string]rules.Function{
		"example.com/upper": {ToHub: mapText(strings.ToUpper), ToSpoke: mapText(strings.ToLower)},
	}
	files := fstest.MapFS{
		"crds/widgets.yaml": {Data: []byte(crd)},
		"rules.yaml":        {Data: []byte(widgets + "      go: example.com/upper\n")},
	}
	kinds, err := rules.Load(context.Background(), files, functions)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(atV1(context.Background(), kinds))
	// Output: {"apiVersion":"example.com/v1","kind":"Widget","spec":{"name":"A"}} <nil>
}
