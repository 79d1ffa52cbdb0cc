package laws_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

const (
	// maxKept is the number of annotations above which those of some leaves are one.
	maxKept = 200
	// maxHiddenEdits bounds the edits of an object.
	maxHiddenEdits = 4
)

// An edit of a leaf that the other version does not show changes one annotation, which no edit of
// another leaf changes: L15.
func TestExamplesKeepEachLeafByItself(t *testing.T) {
	t.Parallel()
	editExamples(t, func(t *testing.T, e *example) int {
		t.Helper()
		s := e.suite(t)
		return holdLeaves(t, s.Kind, e.crd, s.Hints, *exampleObjects/2+1)
	})
}

// editExamples holds each example to a law about edits, and fails if there are few of them.
func editExamples(t *testing.T, hold func(*testing.T, *example) (edits int)) {
	t.Helper()
	var edits atomic.Int64
	t.Cleanup(func() {
		if n := edits.Load(); n < 100 {
			t.Errorf("only %d edits that the law is about", n)
		}
	})
	for _, e := range findExamples(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			edits.Add(int64(hold(t, e)))
		})
	}
}

func TestCompiledInKindsKeepEachLeafByItself(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(*examplesFolder, "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := parseCRD(t, text)
		for _, kind := range exampletest.Kinds() {
			if kind.GroupKind == crd.GroupKind() {
				holdLeaves(t, &kind, crd, nil, *exampleObjects/2+1)
			}
		}
	}
}

// Two leaves in one annotation are found.
func TestLeavesThatAreKeptTogether(t *testing.T) {
	t.Parallel()
	const versions = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ks.g}, spec: {group: g, scope: Namespaced,
		names: {plural: ks, kind: K}, versions: [
		{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {
			spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}},
		{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`
	crd := parseCRD(t, []byte(versions))
	kind := &converters.Kind{
		GroupKind: crd.GroupKind(), Hub: "v2", Versions: []string{"v1", "v2"},
		Converter: converters.Func(func(_ context.Context, obj *jsondoc.Object, from, _ string) error {
			spec, err := obj.Get("spec")
			if err != nil || from == "v2" || spec == nil {
				return err
			}
			text := string(spec.Text())
			if err := obj.Remove("spec"); err != nil {
				return err
			}
			return obj.Set(jsondoc.StringValue(text), "metadata", "annotations", annotation.Prefix+"v1.spec")
		}),
	}
	object := map[string]any{"apiVersion": "g/v1", "kind": "K", "spec": map[string]any{"a": "x", "b": "y"}}
	if _, problem := keptTogether(t, kind, crd, object, "v1", "v2"); !strings.Contains(problem, "which belong to more") {
		t.Errorf("found %q", problem)
	}
}

// holdLeaves holds objects of a kind to L15, and returns how many edits were looked at.
func holdLeaves(t *testing.T, kind *converters.Kind, crd *crdschema.CRD, hints map[string]generate.Hints, count uint64) (edits int) {
	t.Helper()
	for _, version := range kind.Versions {
		generator, err := generate.NewGenerator(crd.Version(version), hints[version])
		if err != nil {
			t.Fatal(err)
		}
		for index := range count {
			object := generator.Object(*lawsSeed, index)
			for _, to := range kind.Versions {
				if object == nil || to == version || version != kind.Hub && to != kind.Hub {
					continue // between two versions that are not the hub, the hub may show it
				}
				var state map[string]any
				if err := utiljson.Unmarshal(object, &state); err != nil {
					t.Fatal(err)
				}
				done, problem := keptTogether(t, kind, crd, state, version, to)
				if edits += done; problem != "" {
					t.Errorf("%s, object %d: %s -> %s: %s", kind.Name(), index, version, to, problem)
					return edits
				}
			}
		}
	}
	return edits
}

// keptTogether returns what is wrong with how the leaves of an object are kept.
func keptTogether(t *testing.T, kind *converters.Kind, crd *crdschema.CRD, object map[string]any, version, to string) (edits int, problem string) {
	t.Helper()
	schema := crd.Version(version)
	seen := convert(t, kind, encode(t, object), version, to)
	kept := keptOf(seen, version)
	if len(kept) == 0 || len(kept) > maxKept {
		return 0, ""
	}
	take(seen)
	of := map[string]string{}
	for _, l := range leavesOf(schema.Root, object) {
		value := l.another(t)
		edited := runtime.DeepCopyJSON(object)
		put(edited, l.path, value)
		if value == nil || edits == maxHiddenEdits || len(schema.Validate(edited)) > 0 {
			continue
		}
		result := convert(t, kind, encode(t, edited), version, to)
		now := keptOf(result, version)
		if take(result); fmt.Sprint(result) != fmt.Sprint(seen) {
			continue // it shows
		}
		edits++
		names := maps.Clone(kept)
		maps.Copy(names, now)
		maps.DeleteFunc(names, func(name, _ string) bool { return kept[name] == now[name] })
		for name := range names {
			if other, found := of[name]; len(names) > 1 || found && other != l.within {
				return edits, fmt.Sprintf("%v = %v changes %v, which belong to more: %s", l.path, value, slices.Sorted(maps.Keys(names)), encode(t, object))
			}
			of[name] = l.within
		}
	}
	return edits, ""
}

// keptOf returns the annotations of an object that keep values of a version.
func keptOf(object map[string]any, version string) map[string]string {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	kept := map[string]string{}
	for name, text := range annotations {
		_, path, _ := strings.Cut(name, "/")
		if of, _, _ := strings.Cut(path, "."); annotation.IsOwn(name) && of == version {
			kept[name], _ = text.(string)
		}
	}
	return kept
}

// A leaf is what one manager of server-side apply owns, except that a whole list may be one,
// because its keys at the other version count as well, and so may a whole value without a schema.
type leaf struct {
	path   []any
	within string // the path of the list or of the value without a schema that it is in, or its own
	value  any
	node   *crdschema.Node
}

// leavesOf returns the leaves of an object below its metadata.
func leavesOf(n *crdschema.Node, object map[string]any) []leaf {
	var all []leaf
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			all = below(all, leaf{path: []any{name}, value: object[name], node: n.Property(name)}, false)
		}
	}
	return all
}

func below(all []leaf, l leaf, inOne bool) []leaf {
	if !inOne {
		l.within = fmt.Sprint(l.path)
	}
	inOne = inOne || l.node.Kind() == crdschema.Any || l.node.Kind() == crdschema.None
	part := func(value any, n *crdschema.Node, inOne bool, steps ...any) {
		all = below(all, leaf{slices.Concat(l.path, steps), l.within, value, n}, inOne)
	}
	switch v := l.value.(type) {
	case map[string]any:
		if s := l.node.Structural(); s == nil || s.XMapType == nil || *s.XMapType != "atomic" {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				n := l.node.Property(name)
				if n == nil {
					n = l.node.Values()
				}
				part(v[name], n, inOne, name)
			}
			return all
		}
	case []any:
		if l.node.ListType() == "map" {
			for i := range v {
				e, _ := v[i].(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(e)) {
					if !slices.Contains(l.node.ListMapKeys(), name) {
						part(e[name], l.node.Items().Property(name), true, i, name)
					}
				}
			}
			return all
		}
	}
	return append(all, l)
}

// another returns another value of the leaf, nil if there is not a simple one.
func (l leaf) another(t *testing.T) any {
	t.Helper()
	if values := l.node.Enum(); len(values) > 1 {
		i := slices.Index(values, string(encode(t, l.value)))
		var value any
		if err := utiljson.Unmarshal([]byte(values[(i+1)%len(values)]), &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	switch v := l.value.(type) {
	case string:
		return v + "x"
	case bool:
		return !v
	case int64:
		return v ^ 1
	case []any:
		if len(v) > 0 {
			return append(slices.Clone(v), runtime.DeepCopyJSONValue(v[len(v)-1]))
		}
	}
	return nil
}

// put sets what a path of names and indexes leads to, which ends with a name.
func put(object any, path []any, value any) {
	for _, step := range path[:len(path)-1] {
		switch step := step.(type) {
		case string:
			object = object.(map[string]any)[step]
		case int:
			object = object.([]any)[step]
		}
	}
	object.(map[string]any)[path[len(path)-1].(string)] = value
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
