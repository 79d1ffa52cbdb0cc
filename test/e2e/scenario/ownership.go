package scenario

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownership tells what managedFields say: for each manager, with the version that it manages at,
// the fields that it owns. "alice v1beta1" has ".hostPort .spec.image".
func ownership(t *testing.T, obj *unstructured.Unstructured) map[string]string {
	t.Helper()
	owners := map[string]string{}
	for _, entry := range obj.GetManagedFields() {
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatalf("managedFields of %s: %v", entry.Manager, err)
		}
		_, version, _ := strings.Cut(entry.APIVersion, "/")
		owners[entry.Manager+" "+version] = strings.Join(ownedFields("", fields), " ")
	}
	return owners
}

// ownedFields lists the paths in a fieldsV1 below which there is nothing more.
func ownedFields(path string, fields map[string]any) []string {
	var paths []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key == "." {
			continue
		}
		child := path + "." + strings.TrimPrefix(key, "f:")
		below, _ := fields[key].(map[string]any)
		if deeper := ownedFields(child, below); len(deeper) > 0 {
			paths = append(paths, deeper...)
		} else {
			paths = append(paths, child)
		}
	}
	return paths
}
