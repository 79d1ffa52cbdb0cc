package conversiontest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
)

// after returns rename and what comes after it.
func after(more func(obj *conversion.Object, from string) error) conversion.Kind {
	return conversion.Must(conversion.Lossless(conversion.Func(func(ctx context.Context, obj *conversion.Object, from, to string) error {
		return errors.Join(rename(ctx, obj, from, to), more(obj, from))
	}), crd))
}

func TestSame(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		want conversion.Kind
		opts *conversiontest.Options
		says string
	}{
		"the same code": {kind(), nil, ""},
		"code that keeps nothing": {conversion.Kind{
			GroupKind: kind().GroupKind, Hub: "v1", Versions: kind().Versions, Converter: conversion.Func(rename),
		}, nil, ""},
		"another value": {
			after(func(obj *conversion.Object, from string) error {
				if from == "v1" {
					return obj.Delete("spec", "size")
				}
				return nil
			}), nil, "law same answer does not hold: v1 -> v1alpha1: .spec.size differs",
		},
		"another value, at a place that does not count": {
			after(func(obj *conversion.Object, from string) error {
				if from == "v1" {
					return obj.Delete("spec", "size")
				}
				return nil
			}), &conversiontest.Options{Drops: []conversiontest.Drop{{From: "v1alpha1", To: "v1", Path: ".spec.size"}}}, "",
		},
		"nothing else in the object around such a place": {
			after(func(obj *conversion.Object, from string) error {
				if from == "v1" {
					return obj.Delete("spec")
				}
				return nil
			}), &conversiontest.Options{Drops: []conversiontest.Drop{{Path: ".spec.size"}}}, "",
		},
		"code that fails": {
			after(func(obj *conversion.Object, _ string) error { return obj.Errorf("cannot be converted") }), nil, "",
		},
		"other versions": {
			conversion.Kind{
				GroupKind: kind().GroupKind, Hub: "v1", Versions: []string{"v1", "v1beta1"}, Converter: conversion.Func(rename),
			}, nil, "conversiontest.Same: the kind has the versions v1, v1beta1, and the CRD v1, v1alpha1",
		},
		"another kind": {
			conversion.Kind{
				GroupKind: schema.GroupKind{Group: "example.com", Kind: "Gadget"},
				Hub:       "v1", Versions: kind().Versions, Converter: conversion.Func(rename),
			}, nil, "conversiontest.Same: the kinds are not the same: Gadget.example.com, Widget.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := &recorder{TB: t}
			func() {
				defer func() { _ = recover() }()
				conversiontest.Same(found, test.want, kind(), crd, test.opts)
			}()
			if !strings.HasPrefix(found.text, test.says) || (test.says == "") != (found.text == "") {
				t.Errorf("found %q, want %q", found.text, test.says)
			}
		})
	}
}

// No text has three letters at least and two at most.
func TestLawsNeedObjects(t *testing.T) {
	t.Parallel()
	never := strings.NewReplacer(
		"openAPIV3Schema:\n        type: object", "openAPIV3Schema:\n        type: object\n        required: [spec]",
		"            properties:\n              size", "            required: [code]\n            properties:\n"+
			"              code: {type: string, minLength: 3, maxLength: 2}\n              size",
	).Replace(string(crd))
	found := &recorder{TB: t}
	func() {
		defer func() { _ = recover() }()
		conversiontest.Laws(found, kind(), []byte(never), nil)
	}()
	if want := "no random object of v1alpha1 is valid"; !strings.HasPrefix(found.text, want) {
		t.Errorf("found %q, want %q", found.text, want)
	}
}

// What Laws and Same cannot test fails, and names the argument.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	written := func(versions ...string) conversion.Kind {
		return conversion.Kind{GroupKind: kind().GroupKind, Hub: "v1", Versions: versions, Converter: conversion.Func(rename)}
	}
	sample := func(text string) *conversiontest.Options {
		return &conversiontest.Options{Samples: [][]byte{[]byte(text)}}
	}
	for name, test := range map[string]struct {
		kind conversion.Kind
		crd  string
		opts *conversiontest.Options
		want string
	}{
		"no kind":                  {conversion.Kind{}, string(crd), nil, "kind without a group or a name, set both: "},
		"no converter":             {conversion.Kind{GroupKind: kind().GroupKind, Hub: "v1", Versions: kind().Versions}, string(crd), nil, "kind without a converter, set Converter: Widget.example.com"},
		"no CRD":                   {kind(), "", nil, "the text has no CustomResourceDefinition of Widget.example.com"},
		"a CRD that is not YAML":   {kind(), "{", nil, "crd:1: not YAML: "},
		"a version without schema": {written("v1", "v1alpha1", "v1beta1"), string(crd), nil, "the kind has the versions v1, v1alpha1, v1beta1, and the CRD v1, v1alpha1"},
		"a version without kind":   {written("v1", "v1beta1"), string(crd), nil, "the kind has the versions v1, v1beta1, and the CRD v1, v1alpha1"},
		"a sample that is YAML":    {kind(), string(crd), sample("kind: Widget"), "the text of Options.Samples[0] is not a JSON object: unexpected character: byte 0"},
		"a sample without text":    {kind(), string(crd), sample(""), "the text of Options.Samples[0] is not a JSON object: unexpected end of the text: byte 0"},
		"a sample of another kind": {kind(), string(crd), sample(`{"apiVersion":"g/v1","kind":"K"}`), "the text of Options.Samples[0] is not an object of Widget.example.com, set its apiVersion and kind"},
		"a drop without a path":    {kind(), string(crd), &conversiontest.Options{Drops: []conversiontest.Drop{{}}}, "path that cannot be read: the path is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for call, fn := range map[string]func(testing.TB){
				"conversiontest.Laws: ": func(tb testing.TB) { conversiontest.Laws(tb, test.kind, []byte(test.crd), test.opts) },
				"conversiontest.Same: ": func(tb testing.TB) { conversiontest.Same(tb, kind(), test.kind, []byte(test.crd), test.opts) },
			} {
				found := &recorder{TB: t}
				func() {
					defer func() { _ = recover() }()
					fn(found)
				}()
				if !strings.HasPrefix(strings.TrimPrefix(found.text, call), test.want) {
					t.Errorf("%sfound %q, want %q", call, found.text, test.want)
				}
			}
		})
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

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
