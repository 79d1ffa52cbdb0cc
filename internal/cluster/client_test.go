package cluster_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

const (
	collection = "/api/v1/namespaces/ns/secrets"
	path       = collection + "/s"
	text       = `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"ns","name":"s"},"data":{"a":"MQ=="}}`
)

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

func TestReadAndChange(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	c := dialed(t, s)
	var o object
	if err := c.Get(t.Context(), path, &o); !apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		t.Errorf("%v", err)
	}
	if err := c.Create(t.Context(), collection, json.RawMessage(text)); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), collection, json.RawMessage(text)); !cluster.IsChanged(err) {
		t.Errorf("%v", err)
	}
	if err := c.Get(t.Context(), path, &o); err != nil || o.Metadata.Name != "s" {
		t.Fatal(err)
	}
	patch := func(version string) error {
		return c.MergePatch(t.Context(), path, map[string]any{
			"metadata": map[string]any{"resourceVersion": version}, "data": map[string]any{"a": nil, "b": "Mg=="},
		}, nil)
	}
	if err := patch("0"); !cluster.IsChanged(err) || cluster.FieldConflicts(err) != nil {
		t.Errorf("%v", err)
	}
	if err := patch(o.Metadata.ResourceVersion); err != nil {
		t.Fatal(err)
	}
	o = object{}
	if err := c.Get(t.Context(), path, &o); err != nil || o.Data["a"] != "" || o.Data["b"] != "Mg==" {
		t.Errorf("%v, %v", o, err)
	}
	names := 0
	if err := c.List(t.Context(), collection, func(p cluster.Page) error { names += len(p.Objects); return nil }); err != nil || names != 1 {
		t.Errorf("%d, %v", names, err)
	}
}

func TestApplyReportsTheOwnersOfFields(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, path, "kubectl", text)
	c := s.Client(t)
	config := json.RawMessage(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"Mg=="}}`)
	err := c.Apply(t.Context(), path, "webhookd", false, config)
	conflicts := cluster.FieldConflicts(err)
	if len(conflicts) != 1 || conflicts[0].Field != ".data.a" || !strings.Contains(conflicts[0].Message, `"kubectl"`) || cluster.IsChanged(err) {
		t.Errorf("%v: %v", conflicts, err)
	}
	if err := c.Apply(t.Context(), path, "webhookd", true, config); err != nil {
		t.Error(err)
	}
}

func TestTemporaryErrorsAreRetried(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  *apierrors.StatusError
		want int // requests
	}{
		"too many requests": {apierrors.NewTooManyRequests("later", 0), 3},
		"unavailable":       {apierrors.NewServiceUnavailable("starting"), 3},
		"bad request":       {apierrors.NewBadRequest("no"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := clustertest.New()
				s.Put(t, path, "kubectl", text)
				left := 2
				s.Before = func(string, string) *apierrors.StatusError {
					if left--; left >= 0 {
						return tt.err
					}
					return nil
				}
				err := s.Client(t).Get(t.Context(), path, &object{})
				if got := len(s.Requests()); got != tt.want || (err == nil) != (tt.want > 1) {
					t.Errorf("%d requests, error %v", got, err)
				}
			})
		})
	}
}

// An API server that ends in the middle of its answer has begun with its status, and a part of the
// object.
func TestACutAnswerIsRetried(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if requests.Add(1) < 3 {
			_, _ = io.WriteString(w, text[:len(text)/2])
			_ = http.NewResponseController(w).Flush() // or the status would not be sent either
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, text)
	})
	var o object
	if err := c.Get(t.Context(), path, &o); err != nil || o.Metadata.Name != "s" {
		t.Errorf("%v, %+v", err, o)
	}
	if got := requests.Load(); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A patient client waits for an API server that restarts, and for nothing else.
func TestPatience(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code     int
		away     time.Duration
		patience time.Duration
		ok       bool
	}{
		"restarts":            {http.StatusServiceUnavailable, 4 * time.Minute, 5 * time.Minute, true},
		"stays away":          {http.StatusServiceUnavailable, time.Hour, 5 * time.Minute, false},
		"no patience":         {http.StatusServiceUnavailable, 4 * time.Minute, 0, false},
		"its webhook is away": {http.StatusInternalServerError, 4 * time.Minute, 5 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin, requests := time.Now(), 0
				c := clientBy(t, "http://cluster", roundTripper(func(*http.Request) (*http.Response, error) {
					requests++
					code := http.StatusOK
					if time.Since(begin) < tt.away {
						code = tt.code
					}
					return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
				}))
				err := c.Patient(tt.patience).Get(t.Context(), path, &object{})
				took := time.Since(begin)
				if (err == nil) != tt.ok || !tt.ok && took > tt.patience+5*time.Second || requests > 70 {
					t.Errorf("%v after %s and %d requests", err, took, requests)
				}
			})
		})
	}
}

func TestRequestsSayWhoAsks(t *testing.T) {
	t.Parallel()
	var got *http.Request
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, text)
	})
	if err := c.Get(t.Context(), path, &object{}); err != nil || got.UserAgent() != "webhookd/test" || got.URL.Path != "/prefix"+path {
		t.Errorf("%v: %s %s", err, got.UserAgent(), got.URL)
	}
}

// clientOf returns a client of a server without TLS, whose API has the path /prefix.
func clientOf(t *testing.T, handler http.HandlerFunc) *cluster.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return clientAt(t, server.URL+"/prefix/")
}

func clientAt(t *testing.T, server string) *cluster.Client {
	t.Helper()
	return clientBy(t, server, nil)
}

func clientBy(t *testing.T, server string, transport http.RoundTripper) *cluster.Client {
	t.Helper()
	file := writeFile(t, "kubeconfig", `{"current-context":"a","clusters":[{"name":"a","cluster":{"server":"`+server+`"}}],"contexts":[{"name":"a","context":{"cluster":"a"}}]}`)
	c, err := cluster.New(cluster.Options{Kubeconfig: file, UserAgent: "webhookd/test", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}
