package gokinds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/examples/customserver/gokinds"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// examples returns the sample objects of examples/ as JSON, by kind.
func examples(t *testing.T) map[schema.GroupKind][][]byte {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*/*-v*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	objects := map[schema.GroupKind][][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		object, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var id struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(text, &id); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		group, _, _ := strings.Cut(id.APIVersion, "/")
		gk := schema.GroupKind{Group: group, Kind: id.Kind}
		objects[gk] = append(objects[gk], object)
	}
	return objects
}

func TestLawsHoldForEveryKind(t *testing.T) {
	t.Parallel()
	registry, err := converters.NewRegistry(gokinds.Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	samples := examples(t)
	for _, kind := range registry.Kinds() {
		t.Run(kind.Name(), func(t *testing.T) {
			t.Parallel()
			if len(samples[kind.GroupKind]) != len(kind.Versions) {
				t.Errorf("examples/ has %d objects, want one of each of %v", len(samples[kind.GroupKind]), kind.Versions)
			}
			if err := roundtrip.Laws(t.Context(), kind, samples[kind.GroupKind]...); err != nil {
				t.Error(err)
			}
		})
	}
}
