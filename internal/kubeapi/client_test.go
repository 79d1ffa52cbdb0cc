package kubeapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/kubeapi"
	"github.com/crdconvert/webhookd/internal/kubeapi/kubeapitest"
)

const (
	path = "/api/v1/namespaces/ns/secrets/s"
	text = `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"ns","name":"s"},"data":{"a":"MQ=="}}`
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
	s := kubeapitest.New(t)
	c := s.Client(t)
	var o object
	if err := c.Get(t.Context(), path, &o); !apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		t.Errorf("%v", err)
	}
	if err := c.Create(t.Context(), "/api/v1/namespaces/ns/secrets", json.RawMessage(text), &o); err != nil || o.Metadata.Name != "s" {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), "/api/v1/namespaces/ns/secrets", json.RawMessage(text), nil); !kubeapi.IsChanged(err) {
		t.Errorf("%v", err)
	}
	patch := func(version string) error {
		return c.MergePatch(t.Context(), path, map[string]any{
			"metadata": map[string]any{"resourceVersion": version}, "data": map[string]any{"a": nil, "b": "Mg=="},
		}, nil)
	}
	if err := patch("0"); !kubeapi.IsChanged(err) || kubeapi.FieldConflicts(err) != nil {
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
	if err := c.List(t.Context(), "/api/v1/namespaces/ns/secrets", func() {}, func(json.RawMessage) error { names++; return nil }); err != nil || names != 1 {
		t.Errorf("%d, %v", names, err)
	}
}

func TestApplyTellsWhoOwnsAField(t *testing.T) {
	t.Parallel()
	s := kubeapitest.New(t)
	s.Put(t, path, "kubectl", text)
	c := s.Client(t)
	config := json.RawMessage(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"Mg=="}}`)
	err := c.Apply(t.Context(), path, "webhookd", false, config, nil)
	conflicts := kubeapi.FieldConflicts(err)
	if len(conflicts) != 1 || conflicts[0].Field != ".data.a" || !strings.Contains(conflicts[0].Message, `"kubectl"`) || kubeapi.IsChanged(err) {
		t.Errorf("%v: %v", conflicts, err)
	}
	if err := c.Apply(t.Context(), path, "webhookd", true, config, nil); err != nil {
		t.Error(err)
	}
}

func TestWhatPassesIsTriedAgain(t *testing.T) {
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
			s := kubeapitest.New(t)
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
	}
}

// An API server that ends in the middle of its answer has begun with its status, and a part of the
// object.
func TestAnAnswerThatIsCutIsAskedForAgain(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if requests.Add(1) < 3 {
			_, _ = io.WriteString(w, text[:len(text)/2])
			_ = http.NewResponseController(w).Flush() // or the status would not be sent either
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	c, err := kubeapi.New(kubeapi.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var o object
	if err := c.Get(t.Context(), path, &o); err != nil || o.Metadata.Name != "s" {
		t.Errorf("%v, %+v", err, o)
	}
	if got := requests.Load(); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
}

// A list that expires, since reading it took minutes, is read again from its first page, and not
// for ever.
func TestAListThatExpiresBeginsAgain(t *testing.T) {
	t.Parallel()
	const collection = "/api/v1/namespaces/ns/secrets"
	expired := apierrors.NewResourceExpired("The provided continue parameter is too old")
	for name, tt := range map[string]struct {
		fails    func(request int) bool // counted from 1
		requests int
		want     string
	}{
		"never":                  {func(int) bool { return false }, 3, ""},
		"at its second page":     {func(request int) bool { return request == 2 }, 5, ""},
		"at its last page":       {func(request int) bool { return request == 3 }, 6, ""},
		"twice":                  {func(request int) bool { return request == 2 || request == 4 }, 7, ""},
		"again and again":        {func(request int) bool { return request%2 == 0 }, 6, "list expired 3 times before it was read to its end: API server: cannot list: "},
		"before there is a page": {func(int) bool { return true }, 1, "API server: cannot list: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kubeapitest.New(t)
			s.PageSize = 2
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				s.Put(t, collection+"/"+name, "kubectl", strings.Replace(text, `"name":"s"`, `"name":"`+name+`"`, 1))
			}
			requests := 0
			s.Before = func(string, string) *apierrors.StatusError {
				if requests++; tt.fails(requests) {
					return expired
				}
				return nil
			}
			var names []string
			err := s.Client(t).List(t.Context(), collection, func() { names = nil }, func(text json.RawMessage) error {
				var o object
				err := json.Unmarshal(text, &o)
				names = append(names, o.Metadata.Name)
				return err
			})
			if requests != tt.requests {
				t.Errorf("%d requests, want %d", requests, tt.requests)
			}
			if tt.want != "" {
				if !kubeapi.IsExpired(err) || !strings.HasPrefix(err.Error(), tt.want) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				return
			}
			if want := []string{"a", "b", "c", "d", "e"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("%q, want %q: %v", names, want, err)
			}
		})
	}
}

func TestErrorsSayWhatTheAPIServerSays(t *testing.T) {
	t.Parallel()
	s := kubeapitest.New(t)
	s.Rules = []kubeapitest.Rule{}
	err := s.Client(t).Get(t.Context(), path, nil)
	want := `API server: cannot get: secrets "s" is forbidden: User "system:serviceaccount:webhookd:webhookd-job" cannot get resource (403): ` + path
	if !apierrors.IsForbidden(err) || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// The kubelet renews the token, so each request reads it.
func TestEachRequestReadsTheToken(t *testing.T) {
	t.Parallel()
	s := kubeapitest.New(t)
	s.Put(t, path, "kubectl", text)
	config := s.Config()
	config.TokenFile = filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(config.TokenFile, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	c, err := kubeapi.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if status, ok := errors.AsType[*apierrors.StatusError](c.Get(t.Context(), path, nil)); !ok || status.ErrStatus.Code != 401 {
		t.Errorf("%v", status)
	}
	write(kubeapitest.Token)
	if err := c.Get(t.Context(), path, nil); err != nil {
		t.Error(err)
	}
}

func TestInCluster(t *testing.T) {
	t.Parallel()
	c, err := kubeapi.InCluster([]string{"A=b", "KUBERNETES_SERVICE_HOST=fd00::1", "KUBERNETES_SERVICE_PORT=443"})
	if err != nil || c.Server != "https://[fd00::1]:443" || c.TokenFile != kubeapi.InClusterTokenFile || c.CAFile != kubeapi.InClusterCAFile {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := kubeapi.InCluster([]string{"KUBERNETES_SERVICE_HOST=1.2.3.4"}); !errors.Is(err, kubeapi.ErrNotInCluster) {
		t.Errorf("%v", err)
	}
}

func TestServersThatAreRefused(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"10.0.0.1:443":              "not the URL of an API server",
		"ftp://10.0.0.1":            "write https://HOST:PORT",
		"https://a:b@10.0.0.1":      "remove user, query and fragment",
		"http://10.0.0.1:8080":      "a token would be sent in the clear",
		"http://127.0.0.1:8001":     "",
		"http://[::1]:8001/":        "",
		"https://10.0.0.1/k8s/c-m/": "",
	} {
		_, err := kubeapi.New(kubeapi.Config{Server: server, TokenFile: "token"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", server, err)
		}
	}
	if _, err := kubeapi.New(kubeapi.Config{Server: "https://a", CAFile: "nowhere"}); err == nil {
		t.Error("a CA file that is not there")
	}
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	s := kubeapitest.New(t)
	_ = s.Client(t).Get(t.Context(), path, nil)
	if got := s.Requests(); !slices.Equal(got, []string{"get " + path}) {
		t.Errorf("%q", got)
	}
}
