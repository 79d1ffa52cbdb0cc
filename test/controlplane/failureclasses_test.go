package controlplane_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A lane has failures that can share a CRD, and so come one after the other.
type lane struct {
	name    string
	classes []failure
}

// lanes returns the failures; those that take long come first.
func lanes() []lane {
	return []lane{
		{"Timeout", []failure{
			{name: "timeout", crd: kind("Gizmo"), stored: `{size: 1}`, other: `{size: 1}`, breaks: neverAnswers},
		}},
		{"CronTab", slices.Concat(unreachable(), refusals())},
		{"Overload", []failure{overload()}},
		{"Converter", honestFailures()},
	}
}

// unreachable are those in which webhookd is not asked.
func unreachable() []failure {
	classes := []failure{
		{name: "connection-refused", breaks: nobodyListens},
		{name: "no-service", breaks: nobodyListens, change: otherService},
		{name: "ca-bundle", breaks: wrongCABundle},
		{name: "certificate-expired", breaks: expiredCertificate},
		{name: "certificate-name", breaks: wrongName},
		{
			name: "wrong-path", breaks: webhookd("--path=/conversion"),
			metric: []string{"webhookd_rejected_total", "code", "404"},
		},
	}
	for i := range classes {
		classes[i].crd = crontabs
		classes[i].stored, classes[i].other = `{host: localhost, port: "80"}`, `{hostPort: "localhost:80"}`
	}
	return classes
}

// refusals are those in which webhookd does not look at the object.
func refusals() []failure {
	large := strings.Repeat("x", 100_000)
	deep := `{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`
	return []failure{
		{
			name: "too-large", crd: crontabs, stored: `{host: localhost, spec: {image: ` + large + `}}`,
			other:  `{hostPort: localhost, spec: {image: ` + large + `}}`,
			breaks: webhookd("--max-body=64Ki", "--small-body=64Ki"),
			metric: []string{"webhookd_rejected_total", "code", "413"},
		},
		{
			name: "malformed", crd: withoutSchema("crontabs.example.com"),
			stored: `{spec: ` + deep + `}`, other: `{spec: ` + deep + `}`, breaks: webhookd(),
			metric: []string{"webhookd_reviews_total", "result", "rejected"},
		},
	}
}

func overload() failure {
	return failure{
		name: "overload", crd: func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
			t.Helper()
			return scenario.CRD(t, "crontabs.stable.example.com")
		},
		stored: `{host: localhost, port: "80"}`, other: `{hostPort: "localhost:80"}`, breaks: overloaded,
		metric: []string{"webhookd_shed_total", "reason", "bytes"},
	}
}

// honestFailures are those in which webhookd answers that it cannot convert.
func honestFailures() []failure {
	classes := []failure{
		{
			name: "not-registered", crd: kind("Widget"), breaks: webhookd(),
			metric: []string{"webhookd_objects_total", "result", "failed", "kind", "unknown"},
		},
		{
			name: "not-convertible", crd: withoutSchema("databases.example.com"), stored: `{spec: {storageGB: "20"}}`,
			other: `{spec: {storageGB: "20"}}`, breaks: webhookd(),
			metric: []string{"webhookd_objects_total", "result", "failed", "kind", "Database.example.com"},
		},
		{
			name: "converter-panicked", crd: kind("Gadget"), breaks: gadgetThat(panics),
			metric: []string{"webhookd_converter_panics_total", "kind", "Gadget.example.com"},
		},
		{
			name: "metadata-changed", crd: kind("Gadget"), breaks: gadgetThat(changesMetadata),
			metric: []string{"webhookd_guard_rejections_total", "path", ".metadata.name"},
		},
	}
	for i := range classes {
		classes[i].honest = true
		if classes[i].stored == "" {
			classes[i].stored, classes[i].other = `{size: 1}`, `{size: 1}`
		}
	}
	return classes
}

func crontabs(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return scenario.CRD(t, "crontabs.example.com")
}

func nobodyListens(t *testing.T, s site) scenario.Target {
	t.Helper()
	return target{s.address(t), tlstest.NewCA(t, "of nobody")}
}

func otherService(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Conversion.Webhook.ClientConfig.Service.Name = "webhook"
}

// webhookd starts it with flags under which it fails.
func webhookd(flags ...string) func(t *testing.T, s site) scenario.Target {
	return func(t *testing.T, s site) scenario.Target {
		t.Helper()
		w := webhook.Start(t, s.options(t, flags...))
		w.AllowLog("review failed", "body rejected")
		return w
	}
}

func wrongCABundle(t *testing.T, s site) scenario.Target {
	t.Helper()
	w := webhook.Start(t, s.options(t))
	w.AllowLog("TLS handshake error")
	return target{w.Addr(), tlstest.NewCA(t, "another")}
}

func wrongName(t *testing.T, s site) scenario.Target {
	t.Helper()
	o := s.options(t)
	o.Hosts = []string{"webhookd.example.com"}
	w := webhook.Start(t, o)
	w.AllowLog("TLS handshake error")
	return w
}

// kind is the CRD of a kind that is not compiled into webhookd.
func kind(name string) func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	return func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
		t.Helper()
		return scenario.ParseCRD(t, strings.NewReplacer("widget", strings.ToLower(name), "Widget", name).Replace(widgets))
	}
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
`

// gadgetThat has webhookd serve a kind whose converter does this.
func gadgetThat(convert converters.Func) func(t *testing.T, s site) scenario.Target {
	return func(t *testing.T, s site) scenario.Target {
		t.Helper()
		w := webhook.StartInProcess(t, s.options(t), converters.Kind{
			GroupKind: schema.GroupKind{Group: "example.com", Kind: "Gadget"}, Hub: "v1",
			Versions: []string{"v1beta1", "v1"}, Converter: convert,
		})
		w.AllowLog("review failed", "converter panicked")
		return w
	}
}

func panics(context.Context, *jsondoc.Object, string, string) error {
	panic("a test's")
}

func changesMetadata(_ context.Context, obj *jsondoc.Object, _, _ string) error {
	_, err := obj.Move([]string{"metadata", "name"}, []string{"metadata", "generateName"})
	return err
}
