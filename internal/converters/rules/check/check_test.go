package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
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

const rules = `apiVersion: conversion.webhookd.io/v1beta1
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
	crds, err := apiserver.Parse(name+".crd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return crds[0]
}

func rulesOf(file, name string) engine.Source {
	return engine.Source{Name: file, Text: []byte(strings.ReplaceAll(rules, "NAME", name))}
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
		files []engine.Source
		crds  []*crdschema.CRD
		opts  engine.Options
		want  []string
	}{
		"each has its CRD": {
			files: []engine.Source{rulesOf("a.yaml", "widget"), rulesOf("b.yaml", "gadget")},
			crds:  []*crdschema.CRD{gadget, widget},
		},
		"a CRD without rules is no finding": {
			files: []engine.Source{rulesOf("a.yaml", "widget")}, crds: []*crdschema.CRD{gadget, widget},
		},
		"two files for one CRD": {
			files: []engine.Source{rulesOf("a.yaml", "widget"), rulesOf("b.yaml", "widget")},
			crds:  []*crdschema.CRD{widget}, want: []string{"b.yaml duplicate-conversion"},
		},
		"a CRD that is given twice": {
			files: []engine.Source{rulesOf("a.yaml", "widget")},
			crds:  []*crdschema.CRD{widget, parseCRD(t, "widget", empty, empty)}, want: []string{"widget.crd.yaml duplicate-crd"},
		},
		"no CRD": {
			files: []engine.Source{rulesOf("a.yaml", "widget")}, want: []string{"a.yaml no-such-crd"},
		},
		"no CRD, but some could not be read": {
			files: []engine.Source{rulesOf("a.yaml", "widget")}, opts: engine.Options{Incomplete: true},
		},
		"nothing": {},
	} {
		_, got := load(t, c.crds, c.opts, c.files...)
		want := append([]string{}, c.want...)
		if diff := cmp.Diff(want, codes(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestErrorsOfCRDsAreFindings(t *testing.T) {
	t.Parallel()
	_, err := apiserver.Parse("x.yaml", []byte(strings.NewReplacer("NAME", "x", "FIELD", "{type: int}", "HUB", empty).Replace(crd)))
	found := check.ReadError(err)
	if len(found) == 0 || found[0].Code != "bad-crd" || found[0].Pos.File != "x.yaml" || found[0].Pos.Line == 0 {
		t.Errorf("%v gives %v", err, found)
	}
	if found := check.ReadError(errors.New("something else")); found != nil {
		t.Errorf("another error gives %v", found)
	}
}

// TestRecursionEndsWhereNothingIsKnown applies a rule set to places that preserve whatever is in
// them.
func TestRecursionEndsWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	const tree = "{type: object, properties: {tree: {type: object, x-kubernetes-preserve-unknown-fields: true}}}"
	text := []byte(strings.ReplaceAll(strings.Replace(rules, "  versions:", `  ruleSets:
    Node:
    - {spoke: .size, hub: .length}
    - {spoke: ".children[]", hub: ".children[]", use: Node}
    - {spoke: .left, hub: .right, use: Node}
  versions:`, 1), "NAME", "widget") + "    rules:\n    - {spoke: .spec.tree, hub: .spec.tree, use: Node}\n")
	widget := parseCRD(t, "widget", tree, tree)
	set, got := load(t, []*crdschema.CRD{widget}, engine.Options{}, engine.Source{Name: "a.yaml", Text: text})
	if len(got) > 0 {
		t.Error(got)
	}
	directions := check.Explain(set.Bound().Kinds[0])
	if len(directions) != 2 || len(directions[0].Atoms) == 0 {
		t.Error(directions)
	}
}
