package gokinds_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/examples/customserver/gokinds"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// crds returns the CustomResourceDefinitions of examples/ by kind.
func crds(t *testing.T) map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob("../../../examples/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	all := map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if want := crd.Name + ".yaml"; filepath.Base(file) != want {
			t.Errorf("%s should be %s", file, want)
		}
		all[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = crd
	}
	return all
}

// undeclared returns the paths of v that the schema does not declare: what the API server would prune.
func undeclared(s *apiextensionsv1.JSONSchemaProps, v any, path string) []string {
	var paths []string
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			at := path + jsondoc.FormatPath(name)
			if p, found := s.Properties[name]; found {
				paths = append(paths, undeclared(&p, value, at)...)
			} else {
				paths = append(paths, at)
			}
		}
	case []any:
		for _, value := range v {
			if s.Items == nil {
				return append(paths, path+"[]")
			}
			paths = append(paths, undeclared(s.Items.Schema, value, path+"[]")...)
		}
	}
	return paths
}

// Law L6: the API server finds nothing to prune, which it would do without a word.
func TestExamplesFitTheirCRDsInEveryVersion(t *testing.T) {
	t.Parallel()
	registry, err := converters.NewRegistry(gokinds.Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	samples, definitions := examples(t), crds(t)
	for _, kind := range registry.Kinds() {
		crd := definitions[kind.GroupKind]
		if crd == nil {
			t.Errorf("no CRD for %s", kind.Name())
			continue
		}
		checkVersions(t, kind, crd)
		for _, sample := range samples[kind.GroupKind] {
			for _, v := range crd.Spec.Versions {
				converted := convert(t, kind, sample, v.Name)
				for _, head := range []string{"apiVersion", "kind", "metadata"} {
					delete(converted, head)
				}
				if paths := undeclared(v.Schema.OpenAPIV3Schema, converted, ""); len(paths) > 0 {
					t.Errorf("%s at %s is pruned: %v", kind.Name(), v.Name, paths)
				}
			}
		}
	}
}

func checkVersions(t *testing.T, kind *converters.Kind, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	versions := make([]string, 0, len(crd.Spec.Versions))
	for _, v := range crd.Spec.Versions {
		versions = append(versions, v.Name)
		if v.Storage != (v.Name == kind.Hub) {
			t.Errorf("%s: the storage version is not the hub %s", crd.Name, kind.Hub)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(kind.Versions)), slices.Sorted(slices.Values(versions))); diff != "" {
		t.Errorf("%s (-kind +crd):\n%s", crd.Name, diff)
	}
}

func convert(t *testing.T, kind *converters.Kind, sample []byte, to string) map[string]any {
	t.Helper()
	obj, err := jsondoc.ParseObject(sample)
	if err != nil {
		t.Fatal(err)
	}
	n, err := obj.Get("apiVersion")
	if err != nil {
		t.Fatal(err)
	}
	apiVersion, _ := n.Str()
	from, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	if err := kind.Convert(t.Context(), obj, from.Version, to); err != nil {
		t.Fatal(err)
	}
	var converted map[string]any
	if err := utiljson.Unmarshal(obj.Text(), &converted); err != nil {
		t.Fatal(err)
	}
	return converted
}
