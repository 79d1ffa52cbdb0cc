// Package fuzz_test has kube-apiserver's own conversion client judge webhookd's answers to any
// objects, in one process and without a network, so that it can be done many times.
package fuzz_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// TestMain silences the API server's log, which reports every failed call.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
}

// FuzzAnswer has the client convert any object, alone and in a list, with a converter that does
// what the object says. What webhookd calls a success, the client takes, with the labels and
// annotations of the answer; what it calls a failure, the client fails with, and shows the message.
func FuzzAnswer(f *testing.F) {
	for _, spec := range []string{
		`{}`, `"panic"`, `"error\n"`, `{"metadata":null}`, `{"metadata":{"name":"b"}}`, `{"metadata.name":"b"}`, `{"metadata.name":null}`, `{"metadata.uid":1}`,
		`{"metadata.labels":{"a":"b"}}`, `{"metadata.labels.a":1}`, `{"metadata.labels":[]}`, `{"metadata.annotations.a b":"c"}`, `{"metadata.annotations.a":"c"}`, `{"metadata.labels":null}`, `{"kind":"Other"}`, `{"apiVersion":1}`,
		`{".":{"kind":"Chaos","metadata":{"name":"evil"}}}`, `{".":"text"}`, `{".":null}`, `{"metadata":"text"}`, `{"n":1.0,"m":9007199254740993}`, `{"items":[]}`,
	} {
		for _, meta := range []string{``, `"metadata":null,`, `"metadata":{"name":"a","namespace":"n","uid":"u","labels":{"x":"y"},"annotations":null},`, `"metadata":{"labels":{"a":null}},`} {
			f.Add([]byte(`{"apiVersion":"example.com/v1beta1","kind":"Chaos",` + meta + `"spec":` + spec + `}`))
		}
	}
	c := newClient(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		in := &unstructured.Unstructured{}
		if len(text) > 1<<12 || in.UnmarshalJSON(text) != nil {
			return
		}
		c.convert(t, in, in)
		list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*in, *in, plain("v1"), plain("v1beta1")}}
		list.SetAPIVersion("example.com/v1")
		list.SetKind("ChaosList")
		c.convert(t, list, in)
	})
}

func plain(version string) unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Chaos", "metadata": map[string]any{"name": "plain"}, "spec": map[string]any{"a": "b"},
	}}
}

// A client is that of kube-apiserver, with webhookd's handler in place of its connections.
type client struct {
	converter runtime.ObjectConvertor
	handler   http.Handler
	answer    *httptest.ResponseRecorder // of the last call; nil without one
}

func newClient(tb testing.TB) *client {
	tb.Helper()
	registry, err := converters.NewRegistry(converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Chaos"},
		Hub:       "v1", Versions: []string{"v1", "v1beta1"}, Converter: convertertest.Mischief(fails),
	})
	if err != nil {
		tb.Fatal(err)
	}
	c := &client{handler: review.NewHandler(review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{}))}
	factory, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), func(next webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
		return &webhook.AuthenticationInfoResolverDelegator{ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			cfg, err := next.ClientConfigFor(hostPort)
			if err == nil {
				cfg.Wrap(func(http.RoundTripper) http.RoundTripper { return c })
			}
			return cfg, err
		}}
	})
	if err != nil {
		tb.Fatal(err)
	}
	if c.converter, _, err = factory.NewConverter(chaos()); err != nil {
		tb.Fatal(err)
	}
	return c
}

func chaos() *apiextensionsv1.CustomResourceDefinition {
	url := "https://webhookd.example.com/crdconvert"
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "chaos", Kind: "Chaos", ListKind: "ChaosList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
			{Name: "v1", Served: true, Storage: true}, {Name: "v1beta1", Served: true},
		},
		Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url}, ConversionReviewVersions: []string{"v1"},
		}},
	}}
	crd.Name = "chaos.example.com"
	return crd
}

// RoundTrip implements http.RoundTripper.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	c.answer = httptest.NewRecorder()
	c.handler.ServeHTTP(c.answer, req)
	body := bytes.NewBuffer(c.answer.Body.Bytes())
	resp := c.answer.Result()
	c.answer.Body = body
	return resp, nil
}

// convert converts what holds an object, and compares what the client makes of the answer with what
// the answer says.
func (c *client) convert(t *testing.T, in runtime.Object, object *unstructured.Unstructured) {
	t.Helper()
	c.answer = nil
	out, err := c.converter.ConvertToVersion(in, schema.GroupVersion{Group: "example.com", Version: "v1"})
	if c.answer == nil {
		return // of the version already, or refused by the client itself
	}
	var said struct {
		Message  string `json:"message"` // of a Status
		Response struct {
			Result struct {
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"result"`
			ConvertedObjects []unstructured.Unstructured `json:"convertedObjects"`
		} `json:"response"`
	}
	if err := json.Unmarshal(c.answer.Body.Bytes(), &said); err != nil {
		t.Fatalf("%v: %s", err, c.answer.Body)
	}
	message := said.Response.Result.Message + said.Message
	switch {
	case said.Response.Result.Status != "Success":
		if err == nil || message == "" || !strings.Contains(err.Error(), message) {
			t.Fatalf("the client says %v, webhookd %s", err, c.answer.Body)
		}
	case err != nil && !refused(object):
		t.Fatalf("the client refuses %s: %v", c.answer.Body, err)
	case err == nil:
		if got, alone := out.(*unstructured.Unstructured); alone {
			want := said.Response.ConvertedObjects[0]
			if !maps.Equal(got.GetLabels(), want.GetLabels()) || !maps.Equal(got.GetAnnotations(), want.GetAnnotations()) {
				t.Fatalf("the client has %v of %s", got, c.answer.Body)
			}
		}
	}
}

// refused reports whether the client refuses an object whatever the answer is: its metadata is
// null, or has labels or annotations that are no texts and that webhookd leaves alone.
func refused(object *unstructured.Unstructured) bool {
	value, found := object.Object["metadata"]
	meta, isMap := value.(map[string]any)
	if !isMap {
		return found
	}
	for _, field := range []string{"labels", "annotations"} {
		if _, _, err := unstructured.NestedStringMap(meta, field); meta[field] != nil && err != nil {
			return true
		}
	}
	return false
}

// fails makes what an object says in a text an error, or a panic.
func fails(text string) error {
	if text == "panic" {
		panic(text)
	}
	return errors.New(text)
}
