package reference_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/test/reference"
)

// texts returns the scalars of rules that may be values, and the names of labels and annotations.
func texts(files [][]byte) []string {
	found := map[string]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && len(n.Value) < 40 && !strings.ContainsAny(n.Value, " (") {
			if m := regexp.MustCompile(`^\.metadata\.(?:labels|annotations)(?:\["(.*)"\]|\.(.*))$`).FindStringSubmatch(n.Value); m != nil {
				found["\x00"+m[1]+m[2]] = true
			} else if !strings.HasPrefix(n.Value, ".") && !strings.Contains(n.Value, "webhookd.io") {
				found[n.Value] = true
			}
			for _, m := range regexp.MustCompile(`=([^\]=]+)\]`).FindAllStringSubmatch(n.Value, -1) {
				found[m[1]] = true
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	for _, f := range files {
		var n yaml.Node
		if yaml.Unmarshal(f, &n) == nil {
			walk(&n)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// An editor changes objects at random.
type editor struct {
	*rand.Rand
	pool []string
}

// edit returns an edited object that is valid, or nil.
func (s *subject) edit(obj map[string]any, st step) map[string]any {
	for try := range uint64(6) {
		e := editor{rand.New(rand.NewPCG(st.seed, try)), s.pool} //nolint:gosec // a walk that can be repeated
		out := clone(obj)
		if _, ok := out["spec"]; !ok && e.IntN(4) > 0 {
			e.member(out, s.schemas[st.version], "spec", 0)
		}
		for range 1 + e.IntN(2) {
			e.change(out, s.schemas[st.version])
		}
		if s.valid(out, st.version) {
			return out
		}
	}
	return nil
}

func (e editor) change(obj map[string]any, s *reference.Schema) {
	if e.IntN(6) == 0 {
		e.metadata(obj)
		return
	}
	name := []string{"spec", "spec", "spec", "status"}[e.IntN(4)]
	if _, ok := s.Properties[name]; !ok {
		name = slices.Sorted(maps.Keys(s.Properties))[e.IntN(len(s.Properties))]
		if name == "metadata" || name == "apiVersion" || name == "kind" {
			return
		}
	}
	e.member(obj, s, name, 0)
}

func (e editor) metadata(obj map[string]any) {
	meta := obj["metadata"].(map[string]any) //nolint:forcetypeassert // always there
	var names []string
	for _, p := range e.pool {
		if name, ok := strings.CutPrefix(p, "\x00"); ok {
			names = append(names, name)
		}
	}
	names = append(names, "a")
	kind := []string{"labels", "annotations"}[e.IntN(2)]
	m, _ := meta[kind].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	name := names[e.IntN(len(names))]
	if _, ok := m[name]; ok && e.IntN(2) == 0 {
		delete(m, name)
	} else {
		m[name] = []any{"core", "Gold", "gold", "7", "true", "", "a b", "-"}[e.IntN(map[string]int{"labels": 6, "annotations": 8}[kind])]
	}
	meta[kind] = m
}

// schemaOf returns the schema of a member.
func schemaOf(s *reference.Schema, name string) *reference.Schema {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// member changes a member of an object: removes it, makes it, or changes it within.
func (e editor) member(m map[string]any, s *reference.Schema, name string, depth int) {
	in := schemaOf(s, name)
	old, ok := m[name]
	switch {
	case !ok:
		m[name] = e.value(in, depth)
	case e.IntN(7) == 0:
		delete(m, name)
	default:
		m[name] = e.changed(old, in, depth+1)
	}
}

func (e editor) changed(v any, s *reference.Schema, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := e.name(v, s); ok {
			e.member(v, s, name, depth)
		}
		return v
	case []any:
		return e.elements(v, s, depth)
	}
	return e.value(s, depth)
}

// name returns a member of an object that may be changed.
func (e editor) name(v map[string]any, s *reference.Schema) (string, bool) {
	var names []string
	if s != nil {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	if s == nil || s.AdditionalProperties != nil || s.XPreserveUnknownFields {
		names = append(names, []string{"a", "b", "c"}[e.IntN(3)])
		names = append(names, slices.Sorted(maps.Keys(v))...)
	}
	if len(names) == 0 {
		return "", false
	}
	return names[e.IntN(len(names))], true
}

func (e editor) elements(l []any, s *reference.Schema, depth int) []any {
	op := e.IntN(5)
	if len(l) == 0 {
		op = 0
	}
	switch op {
	case 0:
		i := len(l)
		if e.IntN(3) == 0 {
			i = e.IntN(len(l) + 1)
		}
		return slices.Insert(l, i, e.item(items(s), depth))
	case 1:
		i := e.IntN(len(l))
		return slices.Delete(l, i, i+1)
	case 2:
		i, j := e.IntN(len(l)), e.IntN(len(l))
		l[i], l[j] = l[j], l[i]
		return l
	}
	i := e.IntN(len(l))
	l[i] = e.changed(l[i], items(s), depth+1)
	return l
}

// item returns a new element: one that no other is equal to, if it may be any text.
func (e editor) item(s *reference.Schema, depth int) any {
	if s != nil && s.Type == "string" && s.ValueValidation == nil {
		return e.unique()
	}
	return e.value(s, depth)
}

func (e editor) unique() string { return fmt.Sprint("u", e.IntN(1_000_000)) }

func items(s *reference.Schema) *reference.Schema {
	if s == nil {
		return nil
	}
	return s.Items
}

// value returns a new value for a schema.
func (e editor) value(s *reference.Schema, depth int) any {
	if s == nil {
		return e.text()
	}
	if s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0 {
		return s.ValueValidation.Enum[e.IntN(len(s.ValueValidation.Enum))].Object
	}
	switch s.Type {
	case "object":
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			required := s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, name)
			if required || e.IntN(2+depth) == 0 {
				p := s.Properties[name]
				if out[name] = e.value(&p, depth+1); name == "id" && p.Type == "string" {
					out[name] = e.unique() // so that no two elements are equal
				}
			}
		}
		if s.AdditionalProperties != nil || s.XPreserveUnknownFields {
			for range e.IntN(3) {
				out[[]string{"a", "b", "c"}[e.IntN(3)]] = e.value(schemaOf(s, "\x00"), depth+1)
			}
		}
		return out
	case "array":
		out := []any{}
		for range e.IntN(4) {
			out = append(out, e.item(s.Items, depth+1))
		}
		return out
	case "boolean":
		return e.IntN(2) == 0
	case "integer":
		return []any{int64(0), int64(1), int64(2), int64(3), int64(60), int64(90), int64(1024), int64(8080), int64(443)}[e.IntN(9)]
	case "number":
		return []any{int64(0), 0.5, int64(2), 1.25}[e.IntN(4)]
	}
	if s.XIntOrString && e.IntN(2) == 0 {
		return int64(e.IntN(5))
	}
	return e.text()
}

func (e editor) text() any {
	own := []string{"a", "b", "c", "d", "e", "", "x:1", "db:80", "90s", "1m30s", "1Ki", "2", "1-3", "5 * * * *", "YQ==", "a: 1", `{"a":1}`, "0.5", "true"}
	if len(e.pool) > 0 && e.IntN(2) == 0 {
		if p := e.pool[e.IntN(len(e.pool))]; !strings.HasPrefix(p, "\x00") {
			return p
		}
	}
	return own[e.IntN(len(own))]
}
