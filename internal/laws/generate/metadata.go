package generate

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// metadata makes the metadata of an object, as the API server would have it.
func (m *builder) metadata(n *crdschema.Node) map[string]any {
	meta := map[string]any{
		"namespace": "kube-system", "uid": "b3997c42-5d0c-4a19-9e3f-0f6ad6c1a0e5", "resourceVersion": "481516", "generation": 3,
		"creationTimestamp": "2024-02-29T23:59:59Z", "finalizers": []any{"example.com/finalizer"},
		"ownerReferences": []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "7f6c5d1e-9a2b-4c3d-8e4f-000000000001", "controller": true,
		}},
		"managedFields": []any{map[string]any{
			"manager": "kubectl", "operation": "Update", "apiVersion": m.version.GroupVersionKind().GroupVersion().String(),
			"time": "2024-01-02T03:04:05Z", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:spec": map[string]any{"f:a": map[string]any{}}},
		}},
	}
	for _, name := range tree.Names(meta) {
		if m.r.Float64() >= m.presence/4 {
			delete(meta, name)
		}
	}
	meta["name"] = Pick(m.r, "a", "my-object", "web-0", "a.b.example.com")
	if name := n.Property("name"); name.Structural().ValueValidation != nil {
		meta["name"] = m.value(name, nil)
	}
	m.entries(meta, "labels", n, func() any { return Pick(m.r, "", "a", "b", "true", "1.50", "some-value", "a_b.c", "0") })
	m.entries(meta, "annotations", n, func() any { return m.text() })
	return meta
}

// EntryNames are the names of the labels and annotations of random objects.
func EntryNames() []string {
	return []string{"a", "app", "example.com/x", "app.kubernetes.io/name", "x.y/z_1"}
}

// entries makes labels or annotations.
func (m *builder) entries(meta map[string]any, name string, n *crdschema.Node, value func() any) {
	entries := map[string]any{}
	m.hinted(n.Property(name), entries, value)
	for m.r.Float64() < m.presence/2 {
		entries[Pick(m.r, EntryNames()...)] = value()
	}
	for key := range entries {
		if !isEntry(name, entries[key]) {
			delete(entries, key)
		}
	}
	if len(entries) > 0 || m.chance(8) {
		meta[name] = entries
	}
}

// BadEntry returns the path of a label or an annotation that the API server refuses, or "".
func BadEntry(object map[string]any) string {
	for _, name := range []string{"labels", "annotations"} {
		entries, _ := tree.At(object, "metadata", name).(map[string]any)
		for _, key := range tree.Names(entries) {
			if !isEntry(name, entries[key]) || len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
				return jsondoc.FormatPath("metadata", name, key)
			}
		}
	}
	return ""
}

// isEntry reports whether the API server accepts a value in labels or in annotations.
func isEntry(in string, value any) bool {
	text, ok := value.(string)
	return ok && (in == "annotations" || len(validation.IsValidLabelValue(text)) == 0)
}
