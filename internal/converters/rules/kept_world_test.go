package rules_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	public "github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/serve/library"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// A world is a CRD and the rules between its versions, as the API server or webhookd knows them.
// The CRD is things.example.com by default.
type world struct {
	hub     string            // v1 if empty
	schemas map[string]string // by version, in shorthand (see schemaOf)
	rules   map[string]string // by version
	sets    string            // rule sets
	strict  bool              // without `unmapped: Preserve`

	crdFile, rulesFile string                                // below the repository's root, in place of all that
	goKind             func(crd []byte) (public.Kind, error) // in place of rules

	more []addition
}

// An addition is an extension of the schema of a version.
type addition struct {
	version string
	schema  func(tb testing.TB) map[string]any
}

// two is a world of v1beta1 and the hub v1.
func two(beta, v1, betaRules string) world {
	return world{schemas: map[string]string{"v1beta1": beta, "v1": v1}, rules: map[string]string{"v1beta1": betaRules}}
}

// exampleOf is the CRD and the rules of a folder of examples/.
func exampleOf(name string) world {
	return world{crdFile: "examples/" + name + "/crd.yaml", rulesFile: "examples/" + name + "/rules.yaml"}
}

// with returns a world in which a version has more fields.
func (w world) with(version, short string) world {
	w.more = append(slices.Clone(w.more), addition{version, func(tb testing.TB) map[string]any { tb.Helper(); return schemaOf(tb, short) }})
	return w
}

// patched returns a world in which the schema of a version has more, in YAML.
func (w world) patched(version, patch string) world {
	w.more = append(slices.Clone(w.more), addition{version, func(tb testing.TB) map[string]any { tb.Helper(); return fromYAML(tb, patch) }})
	return w
}

// by returns the world with other rules of v1beta1.
func (w world) by(betaRules string) world {
	w.rules = map[string]string{"v1beta1": betaRules}
	return w
}

// kind loads the world as webhookd does.
func (w world) kind(tb testing.TB) *converters.Kind {
	tb.Helper()
	if w.goKind != nil {
		kind, err := w.goKind(w.crdText(tb))
		if err != nil {
			tb.Fatal(err)
		}
		kinds, err := library.Kinds(kind)
		if err != nil {
			tb.Fatal(err)
		}
		return &kinds[0]
	}
	crds := []*crdschema.CRD{w.crd(tb)}
	set, findings := rules.Load(tb.Context(), []rules.Source{{Name: "rules.yaml", Text: w.file(tb)}}, crds, rules.Options{Go: exampletest.Functions()})
	for _, f := range findings {
		tb.Errorf("%s", f)
	}
	if len(set.Kinds()) != 1 {
		tb.Fatalf("%d kinds", len(set.Kinds()))
	}
	return &set.Kinds()[0]
}

// crd returns the CRD as the API server has it.
func (w world) crd(tb testing.TB) *crdschema.CRD {
	tb.Helper()
	crds, err := apiserver.Parse("crd.yaml", w.crdText(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return crds[0]
}

func (w world) crdText(tb testing.TB) []byte {
	tb.Helper()
	var crd map[string]any
	if w.crdFile != "" {
		crd = fromYAML(tb, string(fromRoot(tb, w.crdFile)))
	} else {
		crd = w.thing(tb)
	}
	for _, a := range w.more {
		mergePatch(schemaAt(tb, crd, a.version), a.schema(tb))
	}
	text, err := json.Marshal(crd)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func (w world) thing(tb testing.TB) map[string]any {
	tb.Helper()
	versions := make([]any, 0, len(w.schemas))
	for _, name := range slices.Sorted(maps.Keys(w.schemas)) {
		versions = append(versions, map[string]any{
			"name": name, "served": true, "storage": name == w.hubVersion(),
			"schema": map[string]any{"openAPIV3Schema": schemaOf(tb, w.schemas[name])},
		})
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": "things", "kind": "Thing"},
			"versions": versions,
		},
	}
}

func (w world) hubVersion() string {
	if w.hub == "" {
		return "v1"
	}
	return w.hub
}

// file returns the Conversion.
func (w world) file(tb testing.TB) []byte {
	tb.Helper()
	if w.rulesFile != "" {
		return fromRoot(tb, w.rulesFile)
	}
	indent := func(text, by string) string {
		return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: things.example.com}\n"+
		"spec:\n  hub: %s\n  versions:\n", w.hubVersion())
	for _, name := range slices.Sorted(maps.Keys(w.schemas)) {
		if name == w.hubVersion() {
			continue
		}
		fmt.Fprintf(&text, "  - name: %s\n", name)
		if !w.strict {
			text.WriteString("    unmapped: Preserve\n")
		}
		if w.rules[name] != "" {
			text.WriteString("    rules:\n" + indent(w.rules[name], "    "))
		}
	}
	if w.sets != "" {
		text.WriteString("  ruleSets:\n" + indent(w.sets, "    "))
	}
	return []byte(text.String())
}

func fromRoot(tb testing.TB, file string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", file))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// schemaAt returns the schema of a version of a CRD, which the caller may change.
func schemaAt(tb testing.TB, crd map[string]any, version string) map[string]any {
	tb.Helper()
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["name"] == version {
			return childOf(childOf(v, "schema"), "openAPIV3Schema")
		}
	}
	tb.Fatalf("the CRD has no version %s", version)
	return nil
}

// fromYAML reads an object as the API server has it: integers are int64.
func fromYAML(tb testing.TB, text string) map[string]any {
	tb.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	if v == nil {
		v = map[string]any{}
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &obj); err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	return obj
}
