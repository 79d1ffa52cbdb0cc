package chart_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

// Helm refuses a cluster that is too old, and says why: only Kubernetes 1.30 has the default guard.
func TestOldClustersAreRefused(t *testing.T) {
	t.Parallel()
	file, err := chart.ReadValues(filepath.Join(chart.Dir, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"v1.29.15": false, "v1.30.0-gke.1": true, "v1.30.0": true, "v1.37.2": true} {
		if got := util.IsCompatibleRange(at(t, file, "kubeVersion"), version); got != want {
			t.Errorf("%s is accepted: %v", version, got)
		}
	}
}

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
