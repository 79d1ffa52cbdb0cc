package check_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// crd is a CRD with two versions whose specs are given.
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAMEs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: NAMEs, kind: Kind}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: HUB}}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: FIELD}}}}
`

const rules = `apiVersion: conversion.webhookd.io/v1alpha1
kind: Conversion
metadata: {name: NAMEs.example.com}
spec:
  hub: v1
  versions:
  - name: v1beta1
`

const empty = "{type: object, properties: {a: {type: string}}}"

func parseCRD(t *testing.T, name, field, hub string) *crdschema.CRD {
	t.Helper()
	text := strings.NewReplacer("NAME", name, "FIELD", field, "HUB", hub).Replace(crd)
	crds, err := crdschema.Parse(name+".crd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return crds[0]
}

func parseRules(t *testing.T, file, name string) *syntax.File {
	t.Helper()
	parsed, findings := syntax.Parse(file, []byte(strings.ReplaceAll(rules, "NAME", name)))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return parsed
}

func codes(findings []finding.Finding) []string {
	found := make([]string, 0, len(findings))
	for _, f := range findings {
		found = append(found, f.Pos.File+" "+f.Code)
	}
	return found
}

func TestFilesAndCRDsAreCheckedTogether(t *testing.T) {
	t.Parallel()
	widget, gadget := parseCRD(t, "widget", empty, empty), parseCRD(t, "gadget", empty, empty)
	for name, c := range map[string]struct {
		files []*syntax.File
		crds  []*crdschema.CRD
		opts  check.Options
		want  []string
	}{
		"each has its CRD": {
			files: []*syntax.File{parseRules(t, "a.yaml", "widget"), parseRules(t, "b.yaml", "gadget")},
			crds:  []*crdschema.CRD{gadget, widget},
		},
		"a CRD without rules is no finding": {
			files: []*syntax.File{parseRules(t, "a.yaml", "widget")}, crds: []*crdschema.CRD{gadget, widget},
		},
		"two files for one CRD": {
			files: []*syntax.File{parseRules(t, "a.yaml", "widget"), parseRules(t, "b.yaml", "widget")},
			crds:  []*crdschema.CRD{widget}, want: []string{"b.yaml duplicate-conversion"},
		},
		"a CRD that is given twice": {
			files: []*syntax.File{parseRules(t, "a.yaml", "widget")},
			crds:  []*crdschema.CRD{widget, parseCRD(t, "widget", empty, empty)}, want: []string{"widget.crd.yaml duplicate-crd"},
		},
		"no CRD": {
			files: []*syntax.File{parseRules(t, "a.yaml", "widget")}, want: []string{"a.yaml no-such-crd"},
		},
		"no CRD, but some could not be read": {
			files: []*syntax.File{parseRules(t, "a.yaml", "widget")}, opts: check.Options{Incomplete: true},
		},
		"nothing": {},
	} {
		got, err := check.Check(c.files, c.crds, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		want := append([]string{}, c.want...)
		if diff := cmp.Diff(want, codes(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestErrorsOfCRDsAreFindings(t *testing.T) {
	t.Parallel()
	_, err := crdschema.Parse("x.yaml", []byte(strings.NewReplacer("NAME", "x", "FIELD", "{type: int}", "HUB", empty).Replace(crd)))
	found := check.ReadError(err)
	if len(found) == 0 || found[0].Code != "bad-crd" || found[0].Pos.File != "x.yaml" || found[0].Pos.Line == 0 {
		t.Errorf("%v gives %v", err, found)
	}
	if found := check.ReadError(errors.New("something else")); found != nil {
		t.Errorf("another error gives %v", found)
	}
}

// TestRecursionEndsWhereNothingIsKnown applies a rule set to places that preserve whatever is in them.
func TestRecursionEndsWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	const tree = "{type: object, properties: {tree: {type: object, x-kubernetes-preserve-unknown-fields: true}}}"
	file, findings := syntax.Parse("a.yaml", []byte(strings.ReplaceAll(strings.Replace(rules, "  versions:", `  ruleSets:
    Node:
    - {field: .size, hub: .length}
    - {field: ".children[]", hub: ".children[]", use: Node}
    - {field: .left, hub: .right, use: Node}
  versions:`, 1), "NAME", "widget")+"    rules:\n    - {field: .spec.tree, hub: .spec.tree, use: Node}\n"))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	widget := parseCRD(t, "widget", tree, tree)
	got, err := check.Check([]*syntax.File{file}, []*crdschema.CRD{widget}, check.Options{})
	if err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	directions, err := check.Explain(file.Conversions[0], widget, check.Options{})
	if err != nil || len(directions) != 2 || len(directions[0].Atoms) == 0 {
		t.Errorf("%v, %v", directions, err)
	}
}

// BenchmarkCheck checks 40 rules between schemas of 400 leaves.
func BenchmarkCheck(b *testing.B) {
	var field, hub, list strings.Builder
	for i := range 400 {
		fmt.Fprintf(&hub, "f%d: {type: string}, ", i)
		if i < 40 {
			fmt.Fprintf(&field, "g%d: {type: string}, ", i)
			fmt.Fprintf(&list, "    - {field: .spec.g%d, hub: .spec.f%d}\n", i, i)
		} else {
			fmt.Fprintf(&field, "f%d: {type: string}, ", i)
		}
	}
	whole := func(fields string) string { return "{type: object, properties: {" + fields + "}}" }
	text := strings.NewReplacer("NAME", "widget", "FIELD", whole(field.String()), "HUB", whole(hub.String())).Replace(crd)
	crds, err := crdschema.Parse("crd.yaml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	file, findings := syntax.Parse("a.yaml", []byte(strings.ReplaceAll(rules, "NAME", "widget")+"    rules:\n"+list.String()))
	if len(findings) > 0 {
		b.Fatal(findings)
	}
	for b.Loop() {
		if found, err := check.Check([]*syntax.File{file}, crds, check.Options{}); err != nil || len(found) > 0 {
			b.Fatal(found, err)
		}
	}
}
