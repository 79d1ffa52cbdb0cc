package cluster_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Each error is what the API server says, and what to do about it.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	things := schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	secrets := schema.GroupResource{Resource: "secrets"}
	cannot := func(verb string) error { return fmt.Errorf(`User "u" cannot %s resource "r"`, verb) }
	answer := func(err *apierrors.StatusError) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(int(err.ErrStatus.Code))
			_ = json.NewEncoder(w).Encode(err.ErrStatus)
		}
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		verb   string
		path   string
		want   string
	}{
		"RBAC: get of a CRD": {
			answer(apierrors.NewForbidden(things, "a.b", cannot("get"))), "get", crds + "/a.b",
			crds + `/a.b: cannot get: customresourcedefinitions.apiextensions.k8s.io "a.b" is forbidden: User "u" cannot get resource "r" (403)` + "\n" +
				"allow get of customresourcedefinitions.apiextensions.k8s.io with the resourceName a.b, in a ClusterRole",
		},
		"RBAC: list of CRDs": {
			answer(apierrors.NewForbidden(things, "", cannot("list"))), "list", crds,
			crds + `: cannot list: customresourcedefinitions.apiextensions.k8s.io is forbidden: User "u" cannot list resource "r" (403)` + "\n" +
				"allow list of customresourcedefinitions.apiextensions.k8s.io, in a ClusterRole",
		},
		"RBAC: create of a Secret": {
			answer(apierrors.NewForbidden(secrets, "", cannot("create"))), "create", collection,
			collection + `: cannot create: secrets is forbidden: User "u" cannot create resource "r" (403)` + "\n" +
				"allow create of secrets, in a Role of the namespace ns",
		},
		"an admission plugin, which no role overrules": {
			answer(apierrors.NewForbidden(secrets, "s", fmt.Errorf("a quota"))), "create", collection,
			collection + `: cannot create: secrets "s" is forbidden: a quota (403)`,
		},
		"no namespace": {
			answer(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns")), "create", collection,
			collection + `: cannot create: namespaces "ns" not found (404)` + "\n" +
				"create the namespace first, or name another one with -n",
		},
		"no object": {
			answer(apierrors.NewNotFound(secrets, "s")), "get", path,
			path + `: cannot get: secrets "s" not found (404)`,
		},
		"credentials": {
			answer(apierrors.NewUnauthorized("Unauthorized")), "get", path,
			path + `: cannot get: Unauthorized (401)` + "\n" +
				"the API server does not accept these credentials: log in again, or choose others with --context or --kubeconfig",
		},
		"another server": {
			http.NotFound, "get", path,
			path + `: cannot get: the server could not find the requested resource (404)` + "\n" +
				"this is not the API server of Kubernetes 1.16 or later, correct the server SERVER/prefix/ in the kubeconfig",
		},
		"not JSON": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "get", path,
			path + `: cannot read the answer: invalid character '<' looking for beginning of value`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.answer)
			t.Cleanup(server.Close)
			c := clientAt(t, server.URL+"/prefix/")
			err := map[string]func() error{
				"get":    func() error { return c.Get(t.Context(), tt.path, &object{}) },
				"list":   func() error { return c.List(t.Context(), tt.path, nil) },
				"create": func() error { return c.Create(t.Context(), tt.path, json.RawMessage(text)) },
			}[tt.verb]()
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(err.Error(), server.URL, "SERVER")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServersThatCannotBeReached(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	for at, want := range map[string]string{
		"https://127.0.0.1:1": "connection refused\nstart the API server https://127.0.0.1:1 or the way to it, or choose another cluster with --context",
		"https://a.invalid":   "\nstart the API server https://a.invalid or the way to it, or choose another cluster with --context",
		server.URL:            "\ncorrect certificate-authority of the cluster in the kubeconfig, it did not issue the certificate of " + server.URL,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, failed := new(http.Transport).RoundTrip(request) //nolint:bodyclose // there is none
		synctest.Test(t, func(t *testing.T) {
			c := clientBy(t, at, roundTripper(func(*http.Request) (*http.Response, error) { return nil, failed }))
			if err := c.Get(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", at, err)
			}
		})
	}
}
