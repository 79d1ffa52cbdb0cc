package migrate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Entries at a version that goes are put under the other one. No field loses its manager for that.
func TestManagedFieldsWithoutAVersion(t *testing.T) {
	t.Parallel()
	const before = `[
		{"manager":"helm","operation":"Apply","apiVersion":"example.com/v1beta1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:old":{}}}},
		{"manager":"edit","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:a":{},"f:ports":{".":{},"k:{\"name\":\"x\"}":{"f:port":{}}}}}},
		{"manager":"edit","operation":"Update","apiVersion":"example.com/v1beta1","time":"2026-01-03T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:b":{}}}},
		{"manager":"edit","operation":"Update","apiVersion":"example.com/v1beta1","subresource":"status","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}}},
		{"manager":"other","operation":"Update","apiVersion":"other.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{}}}]`
	const after = `[
		{"manager":"helm","operation":"Apply","apiVersion":"example.com/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:old":{}}}},
		{"manager":"edit","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-03T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:a":{},"f:b":{},"f:ports":{".":{},"k:{\"name\":\"x\"}":{"f:port":{}}}}}},
		{"manager":"edit","operation":"Update","apiVersion":"example.com/v1","subresource":"status","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}}},
		{"manager":"other","operation":"Update","apiVersion":"other.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{}}}]`
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal([]byte(before), &entries); err != nil {
		t.Fatal(err)
	}
	clean := func(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
		got, err := withoutStrays(entries, "example.com", "v1", func(version string) bool { return version == "v1beta1" })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := clean(entries)
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var is, want any
	if err := json.Unmarshal(text, &is); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(after), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := clean(got); again != nil {
		t.Errorf("not done: %v", again)
	}
}
