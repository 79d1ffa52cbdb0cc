package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// A pair is two versions of things.example.com, v1beta1 and the hub v1, with schemas in shorthand
// (see schemaOf), and the rules of v1beta1.
type pair struct {
	beta, v1, rules string
	sets            string // rule sets
}

// kind loads the pair.
func (p pair) kind(tb testing.TB) *converters.Kind {
	tb.Helper()
	crds, err := apiserver.Parse("crd.yaml", p.crd(tb))
	if err != nil {
		tb.Fatalf("crd: %v", err)
	}
	set, findings := rules.Load(tb.Context(), []rules.Source{{Name: "rules.yaml", Text: p.file()}}, crds, rules.Options{})
	for _, f := range findings {
		tb.Errorf("%s", f)
	}
	if len(set.Kinds()) != 1 {
		tb.Fatalf("%d kinds\n%s", len(set.Kinds()), p.file())
	}
	return &set.Kinds()[0]
}

func (p pair) file() []byte {
	indent := func(text, by string) string {
		return by + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(text, "\t", "  ")), "\n", "\n"+by)
	}
	text := "apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: things.example.com}\nspec:\n  hub: v1\n"
	if p.sets != "" {
		text += "  ruleSets:\n" + indent(p.sets, "    ") + "\n"
	}
	text += "  versions:\n  - name: v1beta1\n    unmapped: Preserve\n"
	if p.rules != "" {
		text += "    rules:\n" + indent(p.rules, "    ") + "\n"
	}
	return []byte(text)
}

func (p pair) crd(tb testing.TB) []byte {
	tb.Helper()
	version := func(name, short string, storage bool) map[string]any {
		return map[string]any{
			"name": name, "served": true, "storage": storage,
			"schema": map[string]any{"openAPIV3Schema": schemaOf(tb, short)},
		}
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names":    map[string]any{"plural": "things", "kind": "Thing"},
			"versions": []any{version("v1beta1", p.beta, false), version("v1", p.v1, true)},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// schemaOf reads a schema in shorthand: YAML in which an object is a mapping of names to schemas,
// {"*": S} is a map, {"+": any} an object that preserves unknown fields, [S] a list, [S, name] a
// list of type map with that key or keys, [S, 1] a list of at most one element. Scalars are
// "string", "integer", ..., "intorstring", "any", "embedded" for a resource and "enum A B". A ?
// after that allows null, and "= JSON" is a default.
func schemaOf(tb testing.TB, short string) map[string]any {
	tb.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(short), &v); err != nil {
		tb.Fatalf("%v: %s", err, short)
	}
	return expand(tb, v)
}

func expand(tb testing.TB, v any) map[string]any {
	tb.Helper()
	switch v := v.(type) {
	case map[string]any:
		s := map[string]any{"type": "object"}
		if values, ok := v["*"]; ok {
			s["additionalProperties"] = expand(tb, values)
			return s
		}
		properties := map[string]any{}
		for name, of := range v {
			if name == "+" {
				s["x-kubernetes-preserve-unknown-fields"] = true
			} else {
				properties[name] = expand(tb, of)
			}
		}
		s["properties"] = properties
		return s
	case []any:
		s := map[string]any{"type": "array", "items": expand(tb, v[0])}
		if len(v) > 1 && v[1] == 1 {
			s["maxItems"] = 1
		} else if len(v) > 1 {
			s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", v[1:]
			items, ok := s["items"].(map[string]any)
			if !ok {
				tb.Fatal("items")
			}
			items["required"] = v[1:]
		}
		return s
	case string:
		v, value, defaults := strings.Cut(v, " = ")
		name, nullable := strings.CutSuffix(v, "?")
		s := map[string]any{"type": name}
		if defaults {
			s["default"] = json.RawMessage(value)
		}
		if nullable {
			s["nullable"] = true
		}
		words := strings.Fields(name)
		switch words[0] {
		case "enum":
			s["type"], s["enum"] = "string", words[1:]
		case "any":
			delete(s, "type")
			s["x-kubernetes-preserve-unknown-fields"] = true
		case "embedded":
			s["type"], s["x-kubernetes-preserve-unknown-fields"], s["x-kubernetes-embedded-resource"] = "object", true, true
		case "intorstring":
			delete(s, "type")
			s["x-kubernetes-int-or-string"] = true
		}
		return s
	}
	tb.Fatalf("no schema: %v", v)
	return nil
}

// convert converts an object and sets its apiVersion, as the server does.
func convert(tb testing.TB, kind *converters.Kind, object, from, to string) string {
	tb.Helper()
	obj, err := jsondoc.ParseObject([]byte(object))
	if err != nil {
		tb.Fatalf("%v: %s", err, object)
	}
	if err := kind.Convert(tb.Context(), obj, from, to); err != nil {
		tb.Fatalf("%s -> %s: %v: %s", from, to, err, object)
	}
	if err := obj.Set(jsondoc.StringValue(kind.Group+"/"+to), "apiVersion"); err != nil {
		tb.Fatal(err)
	}
	return string(obj.Text())
}

// head is the beginning of objects in tests.
func head(version, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Thing","metadata":{"name":"n"}%s}`, version, rest)
}

// bareAndKept returns an object without kept values, and its annotations of kept values without
// their prefix and digests.
func bareAndKept(tb testing.TB, object string) (bare, kept string) {
	tb.Helper()
	obj, err := jsondoc.ParseObject([]byte(object))
	if err != nil {
		tb.Fatal(err)
	}
	own, others := map[string]any{}, 0
	annotations, err := obj.Get("metadata", "annotations")
	if err == nil {
		err = annotations.Filter(func(name []byte, m jsondoc.Member) bool {
			if !annotation.IsOwn(string(name)) {
				others++
				return true
			}
			_, short, _ := strings.Cut(string(name), "/")
			own[short] = withoutDigests(decodedJSON(tb, jsondoc.Unquote(m.Value().Text())))
			return false
		})
	}
	if err == nil && others == 0 {
		err = obj.Remove("metadata", "annotations")
	}
	if err != nil {
		tb.Fatal(err)
	}
	if len(own) == 0 {
		return string(obj.Text()), ""
	}
	text, err := json.Marshal(own)
	if err != nil {
		tb.Fatal(err)
	}
	return string(obj.Text()), string(text)
}

func withoutDigests(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"inputs", "was", "alike"} {
			delete(v, name)
		}
		for name := range v {
			if name != "value" {
				v[name] = withoutDigests(v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutDigests(v[i])
		}
	}
	return v
}

// keptObject is an object with annotations of webhookd, without their prefix.
func keptObject(tb testing.TB, version, annotations, rest string) string {
	tb.Helper()
	obj, err := jsondoc.ParseObject([]byte(head(version, rest)))
	if err != nil {
		tb.Fatal(err)
	}
	for name, value := range decodedJSON(tb, annotations) {
		text, isText := value.(string)
		if !isText {
			encoded, err := json.Marshal(value)
			if err != nil {
				tb.Fatal(err)
			}
			text = string(encoded)
		}
		if err := obj.Set(jsondoc.StringValue(text), "metadata", "annotations", annotation.Prefix+name); err != nil {
			tb.Fatal(err)
		}
	}
	return string(obj.Text())
}
