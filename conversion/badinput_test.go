package conversion_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/conversion"
)

// said returns what a function panics with, or the error that it returns.
func said(fn func() error) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("panic: %v", r)
		}
	}()
	if err := fn(); err != nil {
		return err.Error()
	}
	return ""
}

// A mistake in a program shows when it starts, and names the argument.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	same := conversion.Func(func(context.Context, *conversion.Object, string, string) error { return nil })
	spoke := conversion.NewSpoke("v1alpha1", toV1, toV1alpha1)
	copyTypes := func(context.Context, metav1.Object, metav1.Object) error { return nil }
	v1 := func() metav1.Object { return &WidgetV1{} }
	lossless := func(c conversion.Converter) error {
		_, err := conversion.Lossless(c, []byte(widgetCRD))
		return err
	}
	registered := func(c conversion.Converter) error {
		_, err := conversion.NewRegistry(conversion.Kind{
			GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v1", Versions: []string{"v1", "v2"}, Converter: c,
		})
		return err
	}
	fromTypes := func(v1, v1alpha1 func() metav1.Object) error {
		return lossless(conversion.FromTypes("v1", map[string]func() metav1.Object{"v1": v1, "v1alpha1": v1alpha1}, copyTypes))
	}
	const noMeta = "not a pointer to a struct that embeds metav1.ObjectMeta: "
	for name, test := range map[string]struct {
		do   func() error
		want string
	}{
		"Lossless without a converter": {func() error { return lossless(nil) }, "conversion.Lossless: no converter"},
		"Lossless without a function":  {func() error { return lossless(conversion.Func(nil)) }, "conversion.Lossless: no converter"},
		"Lossless of types for another CRD": {
			func() error {
				return lossless(conversion.HubSpoke("v1", conversion.NewSpoke("v1beta1", toV1, toV1alpha1)))
			},
			"conversion.Lossless: no Go types convert v1alpha1 to v1, add a spoke",
		},
		"WithHub without a hub":           {func() error { return lossless(conversion.WithHub("", same)) }, "panic: conversion.WithHub: no hub or no converter"},
		"WithHub without a converter":     {func() error { return lossless(conversion.WithHub("v1", nil)) }, "panic: conversion.WithHub: no hub or no converter"},
		"WithHub without a function":      {func() error { return lossless(conversion.WithHub("v1", conversion.Func(nil))) }, "panic: conversion.WithHub: no hub or no converter"},
		"FromUnstructured without one":    {func() error { return lossless(conversion.FromUnstructured(nil)) }, "panic: conversion.FromUnstructured: no function"},
		"HubSpoke without a hub":          {func() error { return lossless(conversion.HubSpoke("", spoke)) }, "panic: conversion.HubSpoke: no hub or no spokes"},
		"HubSpoke without spokes":         {func() error { return lossless(conversion.HubSpoke[WidgetV1]("v1")) }, "panic: conversion.HubSpoke: no hub or no spokes"},
		"HubSpoke with an empty spoke":    {func() error { return lossless(conversion.HubSpoke("v1", spoke, conversion.Spoke[WidgetV1]{})) }, "panic: conversion.HubSpoke: spokes[1] is empty, make it with NewSpoke"},
		"HubSpoke with a spoke twice":     {func() error { return lossless(conversion.HubSpoke("v1", spoke, spoke)) }, "panic: conversion.HubSpoke: two Go types for the version v1alpha1"},
		"HubSpoke with the hub as spoke":  {func() error { return lossless(conversion.HubSpoke("v1alpha1", spoke)) }, "panic: conversion.HubSpoke: two Go types for the version v1alpha1"},
		"NewSpoke without a version":      {func() error { conversion.NewSpoke("", toV1, toV1alpha1); return nil }, "panic: conversion.NewSpoke: no version, no toHub or no toSpoke"},
		"NewSpoke without toHub":          {func() error { conversion.NewSpoke("v1", nil, toV1alpha1); return nil }, "panic: conversion.NewSpoke: no version, no toHub or no toSpoke"},
		"NewSpoke without toSpoke":        {func() error { conversion.NewSpoke("v1", toV1, nil); return nil }, "panic: conversion.NewSpoke: no version, no toHub or no toSpoke"},
		"NewSpoke of another type":        {func() error { conversion.NewSpoke("v1", untypedHub, untypedSpoke); return nil }, "panic: conversion.NewSpoke: " + noMeta + "*unstructured.Unstructured"},
		"FromTypes without types":         {func() error { return lossless(conversion.FromTypes("v1", nil, copyTypes)) }, "panic: conversion.FromTypes: no hub among the types, no other version, or no function"},
		"FromTypes with a type missing":   {func() error { return fromTypes(v1, nil) }, "panic: conversion.FromTypes: no function for the version v1alpha1"},
		"FromTypes with no object":        {func() error { return fromTypes(v1, func() metav1.Object { return nil }) }, "panic: conversion.FromTypes: v1alpha1: " + noMeta + "<nil>"},
		"FromTypes with a nil pointer":    {func() error { return fromTypes(v1, func() metav1.Object { return (*WidgetV1alpha1)(nil) }) }, "panic: conversion.FromTypes: v1alpha1: " + noMeta + "*conversion_test.WidgetV1alpha1"},
		"Must with an error":              {func() error { conversion.Must(conversion.Kind{}, errRefused); return nil }, "panic: refused"},
		"a registry without a converter":  {func() error { return registered(nil) }, "kind without a converter, set Converter: K.g"},
		"a registry without a function":   {func() error { return registered(conversion.Func(nil)) }, "kind without a converter, set Converter: K.g"},
		"a registry with types of others": {func() error { return registered(conversion.HubSpoke("v1", spoke)) }, "K.g: no Go types convert v2 to v1, add a spoke"},
		"a registry with a kind twice": {
			func() error {
				_, err := conversion.NewRegistry(resized(), resized())
				return err
			}, "two converters for one kind, keep one: Widget.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said(test.do); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func untypedHub(context.Context, *unstructured.Unstructured, *unstructured.Unstructured) error {
	return nil
}

func untypedSpoke(context.Context, *unstructured.Unstructured, *unstructured.Unstructured) error {
	return nil
}

// Objects that are no object, and versions that are none, get an error.
func TestBadObjects(t *testing.T) {
	t.Parallel()
	registry, err := conversion.NewRegistry(resized())
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) error {
		_, err := conversion.ParseObject([]byte(text))
		return err
	}
	convert := func(obj *conversion.Object, to string) error {
		err, again := resized().Convert(t.Context(), obj, to), registry.Convert(t.Context(), obj, to)
		if (err == nil) != (again == nil) {
			t.Errorf("the kind says %v, the registry %v", err, again)
		}
		return err
	}
	for name, test := range map[string]struct {
		do   func() error
		want string
	}{
		"no text":             {func() error { return parse("") }, "unexpected end of the text: byte 0"},
		"a list":              {func() error { return parse("[]") }, "unexpected character: byte 0"},
		"a name twice":        {func() error { return parse(`{"a":1,"a":2}`) }, "duplicate name: byte 7"},
		"no object":           {func() error { return convert(nil, "v1") }, "no object to convert, parse one with ParseObject"},
		"the zero object":     {func() error { return convert(&conversion.Object{}, "v1") }, "is not an object of Widget.example.com, set its apiVersion and kind: ."},
		"of another kind":     {func() error { return convert(mustParse(`{"apiVersion":"g/v1","kind":"K"}`), "v1") }, "is not an object of Widget.example.com, set its apiVersion and kind: ."},
		"without a name":      {func() error { return convert(mustParse(`{"apiVersion":1,"kind":{}}`), "v1") }, "is not an object of Widget.example.com, set its apiVersion and kind: ."},
		"of another version":  {func() error { return convert(mustParse(`{"apiVersion":"example.com/v9","kind":"Widget"}`), "v1") }, "is not an object of Widget.example.com, set its apiVersion and kind: ."},
		"to another version":  {func() error { return convert(mustParse(blue), "v9") }, "cannot be converted to v9, which is not a version of Widget.example.com: ."},
		"to no version":       {func() error { return convert(mustParse(blue), "") }, "cannot be converted to , which is not a version of Widget.example.com: ."},
		"in the zero Kind":    {func() error { return conversion.Kind{}.Convert(t.Context(), mustParse(`{}`), "") }, "is not an object of , set its apiVersion and kind: ."},
		"in a zero Registry":  {func() error { return new(conversion.Registry).Convert(t.Context(), mustParse(blue), "v1") }, "is of a kind that is not registered, register it: Widget.example.com: ."},
		"zero Unstructured()": {func() error { _, err := new(conversion.Object).Unstructured(); return err }, "is absent, parse an object with ParseObject: ."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said(test.do); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	if kinds := new(conversion.Registry).Kinds(); len(kinds) > 0 {
		t.Errorf("the zero Registry has %v", kinds)
	}
}

// An edit does what its text says, or fails and changes nothing.
func TestEdits(t *testing.T) {
	t.Parallel()
	const text = `{"spec":{"a":1.10,"l":[{"x":1.10},{"y":"\u0061"}]},"n":null}`
	const impossible = "converter set a value that JSON cannot represent, fix the converter: .spec.a"
	elements := func(obj *conversion.Object) []conversion.Node {
		list, err := obj.Get("spec", "l")
		if err != nil {
			t.Fatal(err)
		}
		all, err := list.Elements()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	rename := func(from, to []string) func(*conversion.Object) error {
		return func(obj *conversion.Object) error {
			_, err := obj.Rename(from, to)
			return err
		}
	}
	set := func(value any, path ...string) func(*conversion.Object) error {
		return func(obj *conversion.Object) error { return obj.Set(value, path...) }
	}
	for name, test := range map[string]struct {
		do   func(obj *conversion.Object) error
		says string
		want string
	}{
		"elements of a list": {
			func(obj *conversion.Object) error { return obj.Set(elements(obj)[1:], "spec", "l") }, "",
			`{"spec":{"a":1.10,"l":[{"y":"\u0061"}]},"n":null}`,
		},
		"a node in a map": {
			func(obj *conversion.Object) error {
				return obj.Set(map[string]any{"in": elements(obj)[0]}, "spec", "l")
			}, "",
			`{"spec":{"a":1.10,"l":{"in":{"x":1.10}}},"n":null}`,
		},
		"an object": {
			func(obj *conversion.Object) error { return obj.Set(mustParse(`{"b":1e1}`), "spec", "a") }, "",
			`{"spec":{"a":{"b":1e1},"l":[{"x":1.10},{"y":"\u0061"}]},"n":null}`,
		},
		"the text of a node": {
			func(obj *conversion.Object) error { return obj.Set(elements(obj)[1].JSON(), "spec", "a") }, "",
			`{"spec":{"a":{"y":"\u0061"},"l":[{"x":1.10},{"y":"\u0061"}]},"n":null}`,
		},
		"a node of another object": {
			func(obj *conversion.Object) error { return obj.Set(elements(mustParse(text))[0], "spec", "a") }, "",
			`{"spec":{"a":{"x":1.10},"l":[{"x":1.10},{"y":"\u0061"}]},"n":null}`,
		},
		"through null":          {set(1, "n", "m"), "", `{"spec":{"a":1.10,"l":[{"x":1.10},{"y":"\u0061"}]},"n":{"m":1}}`},
		"to the place above":    {rename([]string{"spec", "a"}, []string{"spec"}), "", `{"spec":1.10,"n":null}`},
		"to its own place":      {rename([]string{"spec"}, []string{"spec"}), "", text},
		"a place that is none":  {rename([]string{"b"}, []string{"spec"}), "", text},
		"an absent node":        {set(conversion.Node{}, "spec", "a"), "cannot be set to a value that is absent, delete it instead: .", text},
		"an absent element":     {set([]conversion.Node{{}}, "spec", "a"), impossible, text},
		"no text":               {set(json.RawMessage(nil), "spec", "a"), impossible, text},
		"a text that is none":   {set(json.RawMessage("{"), "spec", "a"), impossible, text},
		"a number that is none": {set(json.Number("x"), "spec", "a"), impossible, text},
		"a channel":             {set(make(chan int), "spec", "a"), impossible, text},
		"a name in a list":      {set(1, "spec", "l", "0"), "is an array, not an object: .spec.l", text},
		"a name in a number":    {set(1, "spec", "a", "b"), "is a number, not an object: .spec.a", text},
		"the object to a number": {
			set(1), "cannot be set to a value that is not an object: .", text,
		},
		"the object to null":         {set(nil), "cannot be set to a value that is not an object: .", text},
		"nothing to delete":          {func(obj *conversion.Object) error { return obj.Delete() }, "cannot be removed: .", text},
		"renamed to the object":      {rename([]string{"spec"}, nil), "cannot be renamed without a path from it and to another place: .", text},
		"the object renamed":         {rename(nil, []string{"spec"}), "cannot be renamed without a path from it and to another place: .", text},
		"decoded into no Go value":   {func(obj *conversion.Object) error { return obj.Decode(nil) }, "cannot be decoded into the Go type <nil>, correct the object or the type: .", text},
		"decoded into no pointer":    {func(obj *conversion.Object) error { return obj.Decode(struct{}{}) }, "cannot be decoded into the Go type struct {}, correct the object or the type: .", text},
		"the zero node is not there": {func(*conversion.Object) error { return conversion.Node{}.Set(1, "a") }, "cannot be set since it is absent, set it from a node above it: .", text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := mustParse(text)
			if got := said(func() error { return test.do(obj) }); got != test.says {
				t.Errorf("says %s\nwant %s", got, test.says)
			}
			if got := string(obj.JSON()); got != test.want {
				t.Errorf("is   %s\nwant %s", got, test.want)
			}
		})
	}
}
