package controlplane_test

import (
	"context"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

// kindThat has webhookd serve a kind whose converter does this.
func kindThat(name string, convert converters.Func) func(t *testing.T, s site) scenario.Target {
	return func(t *testing.T, s site) scenario.Target {
		t.Helper()
		w := webhook.StartInProcess(t, s.options(t), converters.Kind{
			GroupKind: schema.GroupKind{Group: "example.com", Kind: name}, Hub: "v1",
			Versions: []string{"v1beta1", "v1"}, Converter: convert,
		})
		w.AllowLog("review failed", "converter panicked")
		return w
	}
}

// waits is a converter that takes longer than the API server waits.
func waits(ctx context.Context, _ *jsondoc.Object, _, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func panics(context.Context, *jsondoc.Object, string, string) error {
	panic("a test's")
}

func changesMetadata(_ context.Context, obj *jsondoc.Object, _, _ string) error {
	_, err := obj.Move([]string{"metadata", "name"}, []string{"metadata", "generateName"})
	return err
}
