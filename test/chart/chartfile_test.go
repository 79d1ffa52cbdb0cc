package chart_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

// The annotations for Artifact Hub are YAML and name the image, and the changelog has an Unreleased
// section.
func TestChartFile(t *testing.T) {
	t.Parallel()
	file, err := chart.ReadValues(filepath.Join(chart.Dir, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := chart.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	image := at(t, defaults, "image", "registry") + "/" + at(t, defaults, "image", "repository") + ":" + at(t, file, "appVersion")
	annotations, _ := chart.Get(file, []string{"annotations"})
	texts, _ := annotations.(map[string]any)
	for _, name := range []string{"images", "links", "changes"} {
		text, _ := texts["artifacthub.io/"+name].(string)
		var list []map[string]any
		if err := yaml.UnmarshalStrict([]byte(text), &list); err != nil || len(list) == 0 {
			t.Errorf("artifacthub.io/%s: %v", name, err)
		}
		if name == "images" && len(list) > 0 && list[0]["image"] != image {
			t.Errorf("the image is %v, want %s", list[0]["image"], image)
		}
	}
	changelog, err := os.ReadFile(filepath.Join(chart.Dir, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(changelog), "## [Unreleased]") {
		t.Error("the changelog has no Unreleased section")
	}
}
