package xrd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

func definition(t *testing.T, text string) *xrd.Definition {
	t.Helper()
	d := &xrd.Definition{}
	if err := yaml.UnmarshalStrict([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The CRDs are those that Crossplane made: testdata/README.md says how they were recorded.
func TestCRDsAreThoseOfCrossplane(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.xrd.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			got, problems := definition(t, read(t, file)).CRDs()
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var want []*apiextensionsv1.CustomResourceDefinition
			for document := range strings.SplitSeq(read(t, strings.Replace(file, ".xrd.", ".crds.", 1)), "\n---\n") {
				crd := &apiextensionsv1.CustomResourceDefinition{}
				if err := yaml.Unmarshal([]byte(document), crd); err != nil {
					t.Fatal(err)
				}
				want = append(want, crd)
			}
			if diff := cmp.Diff(asText(t, want), asText(t, got)); diff != "" {
				t.Errorf("(-Crossplane +webhookd):\n%s", diff)
			}
		})
	}
}

// asText forgets the difference between nil and empty, which no file has.
func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDefinitionsThatCrossplaneRefuses(t *testing.T) {
	t.Parallel()
	const rest = `group: b, versions: [{name: v1, schema: {openAPIV3Schema: {}}}]`
	for text, want := range map[string]string{
		`{apiVersion: apiextensions.crossplane.io/v2, spec: {claimNames: {kind: A}, names: {kind: X}, ` + rest + `}}`:                         "spec.claimNames: Forbidden: only a definition of apiextensions.crossplane.io/v1 with scope LegacyCluster has claims",
		`{apiVersion: apiextensions.crossplane.io/v2, spec: {scope: LegacyCluster, ` + rest + `}}`:                                            `spec.scope: Unsupported value: "LegacyCluster": supported values: "Namespaced", "Cluster"`,
		`{apiVersion: apiextensions.crossplane.io/v1, spec: {claimNames: {kind: X, plural: xs}, names: {kind: X, plural: ys}, ` + rest + `}}`: "spec.claimNames.kind: Forbidden: the composite resource has this name, write another one",
		`{apiVersion: apiextensions.crossplane.io/v1, spec: {versions: [{name: v1}]}}`:                                                        "spec.versions[0].schema.openAPIV3Schema: Required value: Crossplane makes no CRD without the schema of each version",
	} {
		crds, problems := definition(t, text).CRDs()
		if err := problems.ToAggregate(); err == nil || err.Error() != want || crds != nil {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// At v2 a scope that is not given is Namespaced, at v1 it is LegacyCluster.
func TestDefaultScope(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]apiextensionsv1.ResourceScope{"v1": apiextensionsv1.ClusterScoped, "v2": apiextensionsv1.NamespaceScoped} {
		crds, problems := definition(t, `{apiVersion: apiextensions.crossplane.io/`+version+`, spec: {group: b}}`).CRDs()
		if len(problems) > 0 || crds[0].Spec.Scope != want {
			t.Errorf("%s: %v, %v", version, crds, problems)
		}
	}
}
