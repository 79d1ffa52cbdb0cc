package transform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// schemas are the specs of v1 (field) and v2 (hub), as lines of YAML: `name: {type: string}`.
type schemas struct{ field, hub string }

// parse returns the roots of both versions.
func (s schemas) parse(tb testing.TB) (field, hub *crdschema.Node) {
	tb.Helper()
	roots := crdschematest.Roots(tb, s.field, s.hub)
	return roots[0], roots[1]
}

// at returns the node at a path of fields and lists.
func at(root *crdschema.Node, path syntax.Path) *crdschema.Node {
	for _, s := range path.Segments {
		switch s.Kind {
		case syntax.Field:
			if root.Kind() == crdschema.Map {
				root = root.Values()
			} else {
				root = root.Property(s.Name)
			}
		default:
			root = root.Items()
		}
	}
	return root
}

func places(root *crdschema.Node, place *syntax.Place) []*crdschema.Node {
	if place == nil {
		return nil
	}
	var nodes []*crdschema.Node
	for _, p := range place.Paths {
		nodes = append(nodes, at(root, p.Path))
	}
	return nodes
}

const head = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: things.example.com}
spec:
  hub: v2
  versions:
  - name: v1
    rules:
    - `

// parseRule returns the rule of a text in flow or block style, whose first line is line 9 of its
// file.
func parseRule(tb testing.TB, text string) *syntax.Rule {
	tb.Helper()
	text = head + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
	file, findings := syntax.Parse("rules.yaml", []byte(text))
	if len(findings) > 0 {
		tb.Fatalf("%v", findings)
	}
	return file.Conversions[0].Versions[0].Rules[0]
}

func newEnv(tb testing.TB, funcs map[string]transform.GoFunc) *transform.Env {
	tb.Helper()
	env, err := transform.NewEnv(funcs)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

// compile compiles a rule for schemas.
func compile(tb testing.TB, env *transform.Env, s schemas, text string) (transform.Transform, []finding.Finding) {
	tb.Helper()
	field, hub := s.parse(tb)
	rule := parseRule(tb, text)
	return compileRule(env, rule, field, hub)
}

func compileRule(env *transform.Env, rule *syntax.Rule, field, hub *crdschema.Node) (transform.Transform, []finding.Finding) {
	nodes := [2][]*crdschema.Node{places(field, rule.Spoke), places(hub, rule.Hub)}
	return transform.Compile(env, rule, nodes, [2]*crdschema.Node{field, hub}, [2]*transform.Element{})
}

// A source is the text of an object that expressions read.
type source string

func (s source) Object() []byte { return []byte(s) }

func (s source) Metadata() *jsondoc.Node {
	object, err := jsondoc.ParseObject([]byte(s))
	if err != nil {
		return nil
	}
	metadata, err := object.Get("metadata")
	if err != nil {
		return nil
	}
	return metadata
}

// mustCompile compiles a rule that has no findings.
func mustCompile(tb testing.TB, env *transform.Env, s schemas, text string) transform.Transform {
	tb.Helper()
	t, findings := compile(tb, env, s, text)
	if len(findings) > 0 {
		tb.Fatal(render(findings))
	}
	return t
}

// render writes findings as: line:column-end code: message (hint).
func render(findings []finding.Finding) string {
	lines := make([]string, 0, len(findings))
	for _, f := range finding.Sort(findings) {
		line := fmt.Sprintf("%d:%d", f.Pos.Line, f.Pos.Column)
		if f.EndColumn > 0 {
			line += fmt.Sprintf("-%d", f.EndColumn)
		}
		line += " " + f.Code + ": " + f.Message
		if f.Hint != "" {
			line += " (" + f.Hint + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// operands are texts separated by " | "; "-" is an absent value.
func operands(tb testing.TB, texts string) []transform.Operand {
	tb.Helper()
	if texts == "" {
		return nil
	}
	var list []transform.Operand
	for text := range strings.SplitSeq(texts, " | ") {
		if text == "-" {
			list = append(list, transform.Operand{})
			continue
		}
		v, err := jsondoc.RawValue([]byte(text))
		if err != nil {
			tb.Fatalf("%v: %s", err, text)
		}
		list = append(list, transform.Operand{Value: v, Present: true})
	}
	return list
}

func show(list []transform.Operand) string {
	texts := make([]string, len(list))
	for i, o := range list {
		texts[i] = "-"
		if o.Present {
			texts[i] = string(o.Value.Text())
		}
	}
	return strings.Join(texts, " | ")
}

// run converts operands to the count that the other side has, and shows them or the error.
func run(tb testing.TB, t transform.Transform, backward bool, object, in string, count int) string {
	tb.Helper()
	call := &transform.Call{Context: tb.Context(), Source: source(object)}
	if object == "" {
		call.Source = nil
	}
	out := make([]transform.Operand, count)
	way := t[0]
	if backward {
		way = t[1]
	}
	if err := way.Run(call, operands(tb, in), out); err != nil {
		for _, o := range out {
			if o.Present {
				tb.Error("an output with an error")
			}
		}
		return "error: " + err.Error()
	}
	return show(out)
}
