package controlplane_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

// madeUpKinds is a webhookd that has the kinds of testdata/kinds compiled in.
var madeUpKinds = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // once a process; it never changes
	return webhook.BuildWith("made-up", map[string]string{"examples/custom-server/gokinds/gokinds.go": "testdata/kinds/gokinds.go"})
})

// madeUp has webhookd serve these kinds, with some environment.
func madeUp(env ...string) func(t *testing.T, s site) scenario.Target {
	return func(t *testing.T, s site) scenario.Target {
		t.Helper()
		o := s.options(t)
		var err error
		if o.Program, err = madeUpKinds(); err != nil {
			t.Fatal(err)
		}
		o.Env = env
		w := webhook.Start(t, o)
		w.Tolerate("review failed", "converter panicked")
		return w
	}
}
