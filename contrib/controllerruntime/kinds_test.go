package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
	v1 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v1"
	v2 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v2"
)

// bare is a type without conversion functions.
type bare struct{ v1.CronJob }

func (b *bare) DeepCopyObject() runtime.Object { return &bare{*b.DeepCopy()} }

// Hub hides the method, with another signature.
func (*bare) Hub(struct{}) {}

// bareSpoke is the spoke without conversion functions.
type bareSpoke struct{ v2.CronJob }

func (b *bareSpoke) DeepCopyObject() runtime.Object { return &bareSpoke{*b.DeepCopy()} }

func (*bareSpoke) ConvertTo(struct{}) {}

// secondHub is a spoke that is a hub as well.
type secondHub struct{ v1.CronJob }

func (h *secondHub) DeepCopyObject() runtime.Object { return &secondHub{*h.DeepCopy()} }

// schemeOf returns a scheme with a CronJob of types by version.
func schemeOf(types map[string]runtime.Object) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for version, obj := range types {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: cronjob.Group, Version: version, Kind: "CronJob"}, obj)
	}
	return scheme
}

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	const kind = "CronJob.batch.tutorial.example.com"
	crd := string(cronjob.CRD())
	oneVersion, _, _ := strings.Cut(crd, "  - name: v2")
	for _, test := range []struct {
		name   string
		scheme *runtime.Scheme
		crds   []string
		want   []string
	}{
		{"no scheme", nil, []string{crd}, []string{"no scheme"}},
		{"no CRDs", newScheme(), nil, []string{"no CRDs"}},
		{"no YAML", newScheme(), []string{crd, "a: ["}, []string{"crds[1]", "cannot be read"}},
		{"no CRD", newScheme(), []string{"kind: ConfigMap"}, []string{"crds[0]", "not a CustomResourceDefinition"}},
		{"no kind", newScheme(), []string{"kind: CustomResourceDefinition\nspec: {group: g}"}, []string{"not a CustomResourceDefinition with a group and a kind"}},
		{"all CRDs are looked at", newScheme(), []string{"kind: ConfigMap", "kind: Pod"}, []string{"crds[0]", "crds[1]"}},
		{"CRD twice", newScheme(), []string{crd, crd}, []string{kind}},
		{"one version", newScheme(), []string{oneVersion}, []string{kind, "single version"}},
		{"version without a type", schemeOf(map[string]runtime.Object{"v1": &v1.CronJob{}}), []string{crd}, []string{kind, "AddToScheme", ": v2"}},
		{"no types", runtime.NewScheme(), []string{crd}, []string{kind, ": v1, v2"}},
		{
			"type without metadata", schemeOf(map[string]runtime.Object{"v1": &v1.CronJob{}, "v2": &runtime.Unknown{}}),
			[]string{crd},
			[]string{kind, "metav1.ObjectMeta", "v2 (*runtime.Unknown)"},
		},
		{
			"type that is none", schemeOf(map[string]runtime.Object{"v1": &v1.CronJob{}, "v2": &unstructured.Unstructured{}}),
			[]string{crd},
			[]string{kind, "metav1.ObjectMeta", "v2 (*unstructured.Unstructured)"},
		},
		{"no hub", schemeOf(map[string]runtime.Object{"v1": &bare{}, "v2": &v2.CronJob{}}), []string{crd}, []string{kind, "no Go type", "conversion.Hub"}},
		{
			"two hubs", schemeOf(map[string]runtime.Object{"v1": &v1.CronJob{}, "v2": &secondHub{}}),
			[]string{crd},
			[]string{kind, "several Go types", "v1, v2"},
		},
		{
			"spoke without functions", schemeOf(map[string]runtime.Object{"v1": &v1.CronJob{}, "v2": &bareSpoke{}}),
			[]string{crd},
			[]string{kind, "conversion.Convertible", "v2 (*controllerruntime_test.bareSpoke)"},
		},
		{"schema", newScheme(), []string{strings.Replace(crd, "type: integer", "type: [integer]", 1)}, []string{"crds[0]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			crds := make([][]byte, 0, len(test.crds))
			for _, text := range test.crds {
				crds = append(crds, []byte(text))
			}
			_, err := controllerruntime.Handler(test.scheme, nil, crds...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
		})
	}
}

// typedRegistry has a typed spoke converter for types without conversion functions.
func typedRegistry(t *testing.T, scheme *runtime.Scheme) crwebhook.Registry {
	t.Helper()
	converter, err := crwebhook.NewHubSpokeConverter(&bare{}, crwebhook.NewSpokeConverter(&bareSpoke{},
		func(_ context.Context, from *bare, to *bareSpoke) error { return to.ConvertFrom(&from.CronJob) },
		func(_ context.Context, from *bareSpoke, to *bare) error { return from.CronJob.ConvertTo(&to.CronJob) },
	))(scheme)
	if err != nil {
		t.Fatal(err)
	}
	registry := crwebhook.NewRegistry()
	if err := registry.RegisterConverter(schema.GroupKind{Group: cronjob.Group, Kind: "CronJob"}, converter); err != nil {
		t.Fatal(err)
	}
	return registry
}

func TestTypedSpokeConverters(t *testing.T) {
	t.Parallel()
	scheme := schemeOf(map[string]runtime.Object{"v1": &bare{}, "v2": &bareSpoke{}})
	kinds, err := controllerruntime.Kinds(scheme, typedRegistry(t, scheme), cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	if kinds[0].Hub != "v1" || !slices.Equal(kinds[0].Versions, []string{"v1", "v2"}) {
		t.Errorf("hub %s of %v, want v1, which the CRD stores, of v1 and v2", kinds[0].Hub, kinds[0].Versions)
	}
	conversiontest.Laws(t, kinds[0], cronjob.CRD(), &conversiontest.Options{Objects: 20})
}

// A registry that lacks the kind leaves it to the types.
func TestTypesConvertWithoutAConverterOfTheRegistry(t *testing.T) {
	t.Parallel()
	kinds, err := controllerruntime.Kinds(newScheme(), crwebhook.NewRegistry(), cronjob.CRD())
	if err != nil {
		t.Fatal(err)
	}
	if kinds[0].Hub != "v1" {
		t.Errorf("hub %s, want v1", kinds[0].Hub)
	}
}

// The hub is the type that says so, not the version that is stored.
func TestHubIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	crd := string(cronjob.CRD())
	crd = strings.ReplaceAll(crd, "storage: true", "storage: maybe")
	crd = strings.ReplaceAll(crd, "storage: false", "storage: true")
	crd = strings.ReplaceAll(crd, "storage: maybe", "storage: false")
	kinds, err := controllerruntime.Kinds(newScheme(), nil, []byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	if kinds[0].Hub != "v1" {
		t.Errorf("hub %s, want v1", kinds[0].Hub)
	}
}
