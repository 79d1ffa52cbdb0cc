package gokinds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/examples/custom-server/gokinds"
)

// samples returns the sample objects of examples/ as JSON, by kind.
func samples(t *testing.T) map[schema.GroupKind][][]byte {
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
	samples := samples(t)
	for _, kind := range gokinds.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			crd, err := os.ReadFile("../../crds/" + strings.ToLower(kind.Kind) + "s." + kind.Group + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if n := len(samples[kind.GroupKind]); n != len(kind.Versions) {
				t.Errorf("examples/ has %d objects, want one of each of %v", n, kind.Versions)
			}
			conversiontest.Laws(t, kind, crd, &conversiontest.Options{Samples: samples[kind.GroupKind]})
		})
	}
}
