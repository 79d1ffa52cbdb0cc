// Package clusterapi holds the kinds of Cluster API, with their own conversion functions, to
// controller-runtime's answers and to the laws.
package clusterapi

import (
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1" //nolint:staticcheck // an old version is what it converts
	addonsv1beta2 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1" //nolint:staticcheck // an old version is what it converts
	bootstrapv1beta2 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	corev1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // an old version is what it converts
	corev1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1alpha1 "sigs.k8s.io/cluster-api/api/ipam/v1alpha1" //nolint:staticcheck // an old version is what it converts
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1"   //nolint:staticcheck // an old version is what it converts
	ipamv1beta2 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1alpha1 "sigs.k8s.io/cluster-api/api/runtime/v1alpha1" //nolint:staticcheck // an old version is what it converts
	runtimev1beta2 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/yaml"
)

// TestMain gives Cluster API's conversions a version for each group. Its managers look that up in a
// cluster.
func TestMain(m *testing.M) {
	corev1beta1.SetAPIVersionGetter(func(gk schema.GroupKind) (string, error) {
		return schema.GroupVersion{Group: gk.Group, Version: "v1beta2"}.String(), nil
	})
	m.Run()
}

// newScheme returns a scheme with all types of Cluster API's core.
func newScheme(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		addonsv1beta1.AddToScheme, addonsv1beta2.AddToScheme, bootstrapv1beta1.AddToScheme, bootstrapv1beta2.AddToScheme, corev1beta1.AddToScheme, corev1beta2.AddToScheme,
		ipamv1alpha1.AddToScheme, ipamv1beta1.AddToScheme, ipamv1beta2.AddToScheme, runtimev1alpha1.AddToScheme, runtimev1beta2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	return scheme
}

// crds returns the texts of Cluster API's CRDs by their plural, from the module cache, with
// patterns where a Go type does not read every text. They are of a component: its core is ".".
func crds(tb testing.TB, scheme *runtime.Scheme, component string) map[string][]byte {
	tb.Helper()
	dir, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		tb.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), component, "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no CRDs: %v", err)
	}
	all := make(map[string][]byte, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		_, plural, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
		all[plural] = fitted(tb, scheme, text)
	}
	return all
}

// fitted returns a CRD with patterns.
func fitted(tb testing.TB, scheme *runtime.Scheme, text []byte) []byte {
	tb.Helper()
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		tb.Fatal(err)
	}
	spec := crd["spec"].(map[string]any)
	gk := schema.GroupKind{Group: spec["group"].(string), Kind: spec["names"].(map[string]any)["kind"].(string)}
	for _, v := range spec["versions"].([]any) {
		version := v.(map[string]any)
		obj, err := scheme.New(gk.WithVersion(version["name"].(string)))
		if err != nil {
			tb.Fatal(err)
		}
		fit(version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any), reflect.TypeOf(obj), nil)
	}
	text, err := yaml.Marshal(crd)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// fit adds the patterns of texts that a Go type reads to a schema.
func fit(s map[string]any, of reflect.Type, in []reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if slices.Contains(in, of) {
		return
	}
	in = append(slices.Clip(in), of)
	switch {
	case of == reflect.TypeFor[metav1.Duration]():
		s["pattern"] = "^[1-9][0-9]{0,3}h0m0s$"
	case of == reflect.TypeFor[intstr.IntOrString]():
		s["minimum"], s["maximum"] = math.MinInt32, math.MaxInt32
	case of == reflect.TypeFor[metav1.Time]():
	case of.Kind() == reflect.Struct:
		properties, _ := s["properties"].(map[string]any)
		for name, member := range members(of) {
			property, is := properties[name].(map[string]any)
			switch {
			case !is || name == "metadata" || name == "apiVersion" && len(in) == 1:
			case property["x-kubernetes-preserve-unknown-fields"] == true && !raw(member):
				delete(properties, name) // the Go type does not read all that this allows
			case name == "clusterName":
				property["pattern"] = "^[a-z]([a-z0-9]{0,20}[a-z0-9])?$" // conversions make a label of it
			case name == "apiVersion":
				property["pattern"] = "^([a-z]{1,8}[.]io/)?v[1-9](beta1)?$"
			default:
				fit(property, member, in)
			}
		}
	case of.Kind() == reflect.Slice:
		if items, is := s["items"].(map[string]any); is {
			fit(items, of.Elem(), in)
		}
	case of.Kind() == reflect.Map:
		if values, is := s["additionalProperties"].(map[string]any); is {
			fit(values, of.Elem(), in)
		}
	}
}

// raw reports whether a type reads any JSON.
func raw(of reflect.Type) bool {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of == reflect.TypeFor[apiextensionsv1.JSON]() || of == reflect.TypeFor[runtime.RawExtension]()
}

// members returns the types of a struct's members by their names in JSON.
func members(of reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			maps.Copy(all, members(f.Type))
			continue
		}
		all[name] = f.Type
	}
	return all
}
