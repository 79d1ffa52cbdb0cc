package oracle_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// group is that of the kinds that the tests make up.
const group = "oracle.example.com"

// madeUp is the group and kind of a kind made by newKind.
func madeUp(kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }

// madeUpVersions are the versions of such a kind; the first is its hub.
func madeUpVersions() []string { return []string{"v1", "v2", "v3"} }

// newKind makes up a kind that convert converts.
func newKind(name string, convert converters.Func) converters.Kind {
	versions := madeUpVersions()
	return converters.Kind{GroupKind: madeUp(name), Hub: versions[0], Versions: versions, Converter: convert}
}

// plain is a kind whose versions have the same fields.
func plain() converters.Kind {
	return newKind("Plain", func(context.Context, *jsondoc.Object, string, string) error { return nil })
}

// object parses an object as the API server does.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("object: %v", err)
	}
	return u
}

// named returns a small object.
func named(t *testing.T, apiVersion, kind, name string) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"default",`+
		`"uid":"3f1e7a52-0d6c-4c54-9d0a-5d1f6f3a8d11"},"spec":{"replicas":3}}`, apiVersion, kind, name))
}

// list makes the list that the API server makes: its version is that of the request.
func list(apiVersion, kind string, items ...*unstructured.Unstructured) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(apiVersion)
	l.SetKind(kind + "List")
	for _, item := range items {
		l.Items = append(l.Items, *item.DeepCopy())
	}
	return l
}

// content is what cmp.Diff is given. Integers are int64 and other numbers float64, as in the API
// server.
func content(t *testing.T, obj runtime.Object) map[string]any {
	t.Helper()
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		t.Fatalf("the client returned a %T", obj)
	}
	return u.Object
}
