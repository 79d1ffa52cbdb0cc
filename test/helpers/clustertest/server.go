// Package clustertest is a Kubernetes API for tests. It keeps objects in memory, reads, lists and
// creates them, and changes them by JSON merge patch and by server-side apply with the API server's
// own field managers. It does not validate objects, and converts none: they have the version of
// their path. It knows in which version they would be stored.
package clustertest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"

	"github.com/crdconvert/webhookd/internal/cluster"
)

// Token is the bearer token that the server accepts.
const Token = "a-token"

// A Rule allows a verb for the objects whose path begins with a text.
type Rule struct{ Verb, Path string }

// A Server is the API. It is safe for concurrent use. It has an address once there is a kubeconfig
// with it.
type Server struct {
	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured
	stored  map[string]string // path to version
	version int

	// Before, if set, is called before each request is handled. An error that it returns is the
	// answer.
	Before func(verb, path string) *apierrors.StatusError
	// Admit, if set, is admission of patches: it may change an object's new state, or refuse it.
	Admit func(path string, live, changed *unstructured.Unstructured) *apierrors.StatusError
	// Rules, if set, are all that is allowed.
	Rules []Rule
	// PageSize is the most objects in a page of a list; 0 means as many as asked for.
	PageSize int
	// Listeners are the addresses that port-forwards lead to, by POD:PORT.
	Listeners map[string]string

	requests []string // VERB PATH
}

// New returns a server without objects.
func New() *Server {
	return &Server{objects: map[string]*unstructured.Unstructured{}, stored: map[string]string{}}
}

// Kubeconfig returns the path of a kubeconfig with the server, the namespace webhookd, and these
// credentials, or Token if they are empty. The server listens until the end of the test.
func (s *Server) Kubeconfig(tb testing.TB, credentials string) string {
	tb.Helper()
	h := httptest.NewTLSServer(s)
	tb.Cleanup(h.Close)
	return kubeconfig(tb, h.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), credentials)
}

func kubeconfig(tb testing.TB, server string, ca []byte, credentials string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"test",
		"clusters":[{"name":"test","cluster":{"server":%q,"certificate-authority-data":%q}}],
		"users":[{"name":"test","user":%s}],
		"contexts":[{"name":"test","context":{"cluster":"test","user":"test","namespace":"webhookd"}}]}`,
		server, base64.StdEncoding.EncodeToString(ca), cmp.Or(credentials, `{"token":"`+Token+`"}`))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Client returns a client that calls the server without a network, so it also works in a bubble.
func (s *Server) Client(tb testing.TB) *cluster.Client {
	tb.Helper()
	c, err := cluster.New(cluster.Options{Kubeconfig: kubeconfig(tb, "https://cluster", nil, ""), UserAgent: "webhookd/test", Transport: s})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Requests returns the requests so far, each as VERB PATH.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Put stores an object in JSON at the path of its name, like a manager that writes whole objects.
func (s *Server) Put(tb testing.TB, path, manager, text string) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	live := s.live(path, object)
	object.SetManagedFields(live.GetManagedFields())
	updated, err := fields(object).Update(live, object, manager)
	if err != nil {
		tb.Fatal(err)
	}
	s.store(path, updated.(*unstructured.Unstructured)) //nolint:forcetypeassert // what went in
}

// Apply stores the fields of an object in JSON, like kubectl apply --server-side.
func (s *Server) Apply(tb testing.TB, path, manager, text string) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.apply(path, manager, true, []byte(text)); err != nil {
		tb.Fatal(err)
	}
}

// Get reads an object into a value, and reports whether it exists.
func (s *Server) Get(tb testing.TB, path string, into any) bool {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	object := s.objects[path]
	if object == nil {
		return false
	}
	text, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return true
}

// Age moves the time of all managedFields of an object into the past.
func (s *Server) Age(tb testing.TB, path string, by time.Duration) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	object := s.objects[path]
	entries := object.GetManagedFields()
	for i := range entries {
		entries[i].Time = &metav1.Time{Time: entries[i].Time.Add(-by)}
	}
	object.SetManagedFields(entries)
}

// Delete removes an object.
func (s *Server) Delete(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delete(path)
}

func fields(object *unstructured.Unstructured) *managedfields.FieldManager {
	return managedfieldstest.NewFakeFieldManager(managedfields.NewDeducedTypeConverter(), object.GroupVersionKind())
}

// live returns the object at a path, or an empty one of the kind of another.
func (s *Server) live(path string, kind *unstructured.Unstructured) *unstructured.Unstructured {
	if object := s.objects[path]; object != nil {
		return object
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.GetAPIVersion(), "kind": kind.GetKind()}}
}

func (s *Server) store(path string, object *unstructured.Unstructured) {
	s.beforeStore(path, object)
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[path] = object
	s.stored[path] = s.storageVersion(path)
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	served := r.Clone(r.Context())
	if r.Body == nil {
		served.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, served)
	return w.Result(), r.Context().Err() // who has gone sees no answer
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.forward(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	verb := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPatch: "patch"}[r.Method]
	path := s.locate(r.URL.Path)
	if verb == "get" && isCollection(path) && !isDiscovery(path) {
		verb = "list"
	}
	s.requests = append(s.requests, verb+" "+path)
	code, answer, failure := http.StatusOK, any(nil), s.refuse(verb, path, r)
	if failure == nil {
		switch verb {
		case "get":
			if isDiscovery(path) {
				answer, failure = s.discover(path)
			} else {
				answer, failure = s.get(path)
			}
		case "list":
			answer, failure = s.list(path, r.URL.Query())
		case "create":
			code = http.StatusCreated
			answer, failure = s.create(path, text)
		default:
			answer, failure = s.patch(strings.TrimSuffix(path, "/status"), r, text)
		}
	}
	if failure != nil {
		failure.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		code, answer = int(failure.ErrStatus.Code), failure.ErrStatus
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

// An address is what a path names. A collection has no name.
type address struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

// parse reads /api/VERSION or /apis/GROUP/VERSION, then perhaps /namespaces/NAMESPACE, then
// /RESOURCE or /RESOURCE/NAME.
func parse(path string) address {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if parts[0] == "api" {
		parts[0] = ""
	} else {
		parts = parts[1:]
	}
	parts = append(parts, "", "", "", "", "")
	a := address{resource: schema.GroupVersionResource{Group: parts[0], Version: parts[1]}}
	if parts = parts[2:]; parts[0] == "namespaces" && parts[2] != "" {
		a.namespace, parts = parts[1], parts[2:]
	}
	a.resource.Resource, a.name = parts[0], parts[1]
	return a
}

func isCollection(path string) bool { return parse(path).name == "" }

func resource(path string) schema.GroupResource { return parse(path).resource.GroupResource() }

// nameOf returns the name of the object at a path; "" for a collection.
func nameOf(path string) string { return parse(path).name }

// has reports whether a collection has an object.
func (a address) has(object address) bool {
	return a.resource == object.resource && (a.namespace == "" || a.namespace == object.namespace)
}

func (s *Server) refuse(verb, path string, r *http.Request) *apierrors.StatusError {
	if r.Header.Get("Authorization") != "Bearer "+Token {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	if s.Before != nil {
		if err := s.Before(verb, path); err != nil {
			return err
		}
	}
	allowed := s.Rules == nil || slices.ContainsFunc(s.Rules, func(rule Rule) bool { return rule.Verb == verb && rule.Path == path })
	if !allowed {
		return apierrors.NewForbidden(resource(path), nameOf(path),
			fmt.Errorf("User %q cannot %s resource %q", "system:serviceaccount:webhookd:webhookd-job", verb, resource(path).Resource)) //nolint:staticcheck // the API server's text
	}
	return nil
}

func (s *Server) get(path string) (*unstructured.Unstructured, *apierrors.StatusError) {
	if object := s.objects[path]; object != nil {
		return object, nil
	}
	return nil, apierrors.NewNotFound(resource(path), nameOf(path))
}

// list returns a page; the continue token is the number of objects before it.
func (s *Server) list(path string, query url.Values) (any, *apierrors.StatusError) {
	items, collection := []any{}, parse(path)
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if collection.has(s.at(parse(name), collection.resource.Version)) {
			items = append(items, s.objects[name].Object)
		}
	}
	begin, err := strconv.Atoi(cmp.Or(query.Get("continue"), "0"))
	if err != nil || begin > len(items) {
		return nil, apierrors.NewBadRequest("continue key is not valid")
	}
	size, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(len(items))))
	if err != nil {
		return nil, apierrors.NewBadRequest("limit is not a number")
	}
	if s.PageSize > 0 {
		size = min(size, s.PageSize)
	}
	meta := map[string]any{}
	if items = items[begin:]; len(items) > size {
		meta["continue"], meta["remainingItemCount"] = strconv.Itoa(begin+size), len(items)-size
		items = items[:size]
	}
	return map[string]any{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items}, nil
}

func (s *Server) create(path string, text []byte) (*unstructured.Unstructured, *apierrors.StatusError) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	path += "/" + object.GetName()
	if s.objects[path] != nil {
		return nil, apierrors.NewAlreadyExists(resource(path), object.GetName())
	}
	s.store(path, object)
	return object, nil
}

func (s *Server) patch(path string, r *http.Request, text []byte) (*unstructured.Unstructured, *apierrors.StatusError) {
	live, failure := s.get(path)
	if failure != nil {
		return nil, failure
	}
	switch kind := r.Header.Get("Content-Type"); kind {
	case "application/merge-patch+json":
		return s.merge(path, live, text, r.URL.Query().Has("dryRun"))
	case "application/apply-patch+yaml":
		failure = s.apply(path, r.URL.Query().Get("fieldManager"), r.URL.Query().Get("force") == "true", text)
	default:
		failure = apierrors.NewBadRequest("unknown kind of patch: " + kind)
	}
	if failure != nil {
		return nil, failure
	}
	return s.objects[path], nil
}

func (s *Server) merge(path string, live *unstructured.Unstructured, text []byte, dryRun bool) (*unstructured.Unstructured, *apierrors.StatusError) {
	var patch map[string]any
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	changed := live.DeepCopy()
	mergeInto(changed.Object, patch)
	if changed.GetResourceVersion() != live.GetResourceVersion() || changed.GetUID() != live.GetUID() {
		return nil, changedMeanwhile(path)
	}
	if failure := s.refuseVersions(changed); failure != nil {
		return nil, failure
	}
	if s.Admit != nil {
		if failure := s.Admit(path, live, changed); failure != nil {
			return nil, failure
		}
	}
	was, _ := live.MarshalJSON()
	is, _ := changed.MarshalJSON()
	if !dryRun && (!bytes.Equal(was, is) || s.stored[path] != s.storageVersion(path)) {
		s.store(path, changed)
	}
	return changed, nil
}

func mergeInto(object, patch map[string]any) {
	for name, value := range patch {
		member, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isObject:
			into, ok := object[name].(map[string]any)
			if !ok {
				into = map[string]any{}
				object[name] = into
			}
			mergeInto(into, member)
		default:
			object[name] = value
		}
	}
}

func changedMeanwhile(path string) *apierrors.StatusError {
	return apierrors.NewConflict(resource(path), nameOf(path), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
}

func (s *Server) apply(path, manager string, force bool, text []byte) *apierrors.StatusError {
	config := &unstructured.Unstructured{}
	if err := config.UnmarshalJSON(text); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	live := s.live(path, config)
	want := config.GetResourceVersion()
	merged, err := fields(config).Apply(live.DeepCopy(), config, manager, force)
	if err != nil {
		if status, ok := err.(*apierrors.StatusError); ok { //nolint:errorlint // not wrapped
			return status
		}
		return apierrors.NewInternalError(err)
	}
	object := merged.(*unstructured.Unstructured) //nolint:forcetypeassert // what went in
	if want != "" && want != live.GetResourceVersion() {
		return changedMeanwhile(path)
	}
	object.SetResourceVersion(live.GetResourceVersion())
	was, _ := live.MarshalJSON()
	is, _ := object.MarshalJSON()
	if !bytes.Equal(was, is) {
		s.store(path, object)
	}
	return nil
}
