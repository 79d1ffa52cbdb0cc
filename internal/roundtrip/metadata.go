package roundtrip

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// metadata makes the metadata of an object, as the API server would have it.
func (m *maker) metadata(n *crdschema.Node) map[string]any {
	meta := map[string]any{"name": m.name(n.Property("name"))}
	often := func(name string, value any) {
		if m.r.Float64() < m.presence/4 {
			meta[name] = value
		}
	}
	often("namespace", pick(m.r, "default", "kube-system", "a-b"))
	often("uid", m.uuid('4'))
	often("resourceVersion", fmt.Sprint(m.r.IntN(1<<20)))
	often("generation", m.r.Int64N(100))
	often("creationTimestamp", m.time().UTC().Format(time.RFC3339))
	often("finalizers", []any{"example.com/finalizer"})
	often("ownerReferences", []any{map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": m.uuid('4'), "controller": true,
	}})
	often("managedFields", []any{map[string]any{
		"manager": "kubectl", "operation": "Update", "apiVersion": m.version.GroupVersionKind().GroupVersion().String(),
		"time": "2024-01-02T03:04:05Z", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:spec": map[string]any{"f:a": map[string]any{}}},
	}})
	m.entries(meta, "labels", n.Property("labels"), func() any {
		return pick(m.r, "", "a", "b", "true", "1.50", "some-value", "a_b.c", "0")
	})
	m.entries(meta, "annotations", n.Property("annotations"), func() any { return m.text() })
	return meta
}

// name makes the name of an object, as the schema demands it.
func (m *maker) name(n *crdschema.Node) any {
	if n.Structural().ValueValidation != nil {
		l := limitsOf(m.r, n, nil)
		return m.str(&l)
	}
	return pick(m.r, "a", "my-object", "web-0", "a.b.example.com")
}

// entries makes labels or annotations.
func (m *maker) entries(meta map[string]any, name string, n *crdschema.Node, value func() any) {
	entries := map[string]any{}
	for _, hint := range m.hints.names[n] {
		if m.r.IntN(2) == 0 {
			if entries[hint.name] = m.hinted(hint, value); !isEntry(name, entries[hint.name]) {
				entries[hint.name] = value()
			}
		}
	}
	for m.r.Float64() < m.presence/2 {
		entries[pick(m.r, "a", "app", "example.com/x", "app.kubernetes.io/name", "x.y/z_1")] = value()
	}
	if len(entries) > 0 || m.chance(8) {
		meta[name] = entries
	}
}

// badEntry returns the path of a label or an annotation that the API server refuses, or nothing.
func badEntry(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		entries, _ := meta[name].(map[string]any)
		for _, key := range names(entries) {
			if !isEntry(name, entries[key]) || len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
				return jsondoc.FormatPath("metadata", name, key)
			}
		}
	}
	return ""
}

// isEntry reports whether the API server takes a value in labels, or in annotations.
func isEntry(in string, value any) bool {
	text, ok := value.(string)
	return ok && (in == "annotations" || len(validation.IsValidLabelValue(text)) == 0)
}
