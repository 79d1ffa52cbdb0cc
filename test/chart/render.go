package chart

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// Dir is the folder of the chart, relative to this package.
const Dir = "../../deploy/helm/webhookd"

// The rendered release.
const (
	ReleaseName = "webhookd"
	Namespace   = "conversion"
)

// A Rendering has the output of each template that has any, by its path in the folder templates.
type Rendering map[string]string

// Render validates the values with the schema and renders the chart, as helm install does. With a
// nil cluster it works as helm template.
func Render(values map[string]any, cluster *Cluster) (Rendering, error) {
	return RenderIn(Namespace, values, cluster)
}

// RenderIn is Render for a release in another namespace.
func RenderIn(namespace string, values map[string]any, cluster *Cluster) (Rendering, error) {
	chart, err := loader.LoadDir(Dir)
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: ReleaseName, Namespace: namespace, Revision: 1, IsInstall: true}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion.Version = "v1.36.0"
	if cluster != nil && cluster.Version != "" {
		capabilities.KubeVersion.Version = cluster.Version
	}
	top, err := util.ToRenderValues(chart, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	var files map[string]string
	if cluster == nil {
		files, err = engine.Render(chart, top)
	} else {
		files, err = engine.RenderWithClientProvider(chart, top, cluster)
	}
	if err != nil {
		return nil, err
	}
	rendering := make(Rendering, len(files))
	for path, text := range files {
		if strings.TrimSpace(text) != "" {
			rendering[strings.TrimPrefix(path, chart.Name()+"/templates/")] = text
		}
	}
	return rendering, nil
}

// String returns the rendering, file by file.
func (r Rendering) String() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&b, "=== %s\n%s\n", path, strings.TrimRight(strings.TrimLeft(r[path], "\n"), "\n"))
	}
	return b.String()
}

// Documents returns the manifests in the order of their files, except those with only comments.
func (r Rendering) Documents() []string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(r)) {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		for document := range strings.SplitSeq("\n"+r[path], "\n---") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil || len(object) > 0 {
				all = append(all, document)
			}
		}
	}
	return all
}
