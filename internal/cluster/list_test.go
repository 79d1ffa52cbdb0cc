package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

// put stores Secrets with these NAMESPACE/NAMEs.
func put(t *testing.T, s *clustertest.Server, names ...string) {
	t.Helper()
	for _, name := range names {
		namespace, name, _ := strings.Cut(name, "/")
		o := strings.NewReplacer(`"ns"`, `"`+namespace+`"`, `"s"`, `"`+name+`"`).Replace(text)
		s.Put(t, "/api/v1/namespaces/"+namespace+"/secrets/"+name, "kubectl", o)
	}
}

func secrets(namespace string) string {
	return cluster.CollectionPath(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, namespace)
}

// listed returns the names of a list, one text a page, with the number of objects left.
func listed(t *testing.T, c *cluster.Client, path string) ([]string, error) {
	t.Helper()
	var pages []string
	err := c.List(t.Context(), path, func(p cluster.Page) error {
		var names []string
		for _, text := range p.Objects {
			var o object
			if err := json.Unmarshal(text, &o); err != nil {
				return err
			}
			names = append(names, o.Metadata.Name)
		}
		pages = append(pages, fmt.Sprintf("%s, %d left", strings.Join(names, " "), p.Left))
		return nil
	})
	return pages, err
}

func TestPathOfACollection(t *testing.T) {
	t.Parallel()
	crontabs := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "crontabs"}
	for path, got := range map[string]string{
		"/apis/example.com/v1/crontabs":               cluster.CollectionPath(crontabs, ""),
		"/apis/example.com/v1/namespaces/ns/crontabs": cluster.CollectionPath(crontabs, "ns"),
		"/api/v1/secrets":                             secrets(""),
		"/api/v1/namespaces/ns/secrets":               secrets("ns"),
	} {
		if got != path {
			t.Errorf("got %s, want %s", got, path)
		}
	}
}

func TestAListComesPageByPage(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.PageSize = 2
	put(t, s, "ns/a", "ns/b", "ns/c", "other/d", "other/e")
	for path, want := range map[string][]string{
		secrets(""):        {"a b, 3 left", "c d, 1 left", "e, 0 left"},
		secrets("ns"):      {"a b, 1 left", "c, 0 left"},
		secrets("nothing"): {", 0 left"},
	} {
		got, err := listed(t, s.Client(t), path)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", path, err, diff)
		}
	}
}

// Reading a list may take longer than the API server keeps its history. The answer 410 then has the
// token of the next object in the present state.
func TestAnExpiredListGoesOn(t *testing.T) {
	t.Parallel()
	const remedy = "\nthe API server forgot the list before it was read to its end: try again"
	expired := func(token string) *apierrors.StatusError {
		err := apierrors.NewResourceExpired("The provided continue parameter is too old")
		err.ErrStatus.Continue = token
		return err
	}
	for name, tt := range map[string]struct {
		fails map[int]string // requests, counted from 1, and the token of the answer
		want  []string
		err   string // its end
	}{
		"never":               {nil, []string{"a b, 3 left", "c d, 1 left", "e, 0 left"}, ""},
		"at its second page":  {map[int]string{2: "2"}, []string{"a b, 3 left", "c d, 1 left", "e, 0 left"}, ""},
		"at every page":       {map[int]string{2: "2", 4: "4"}, []string{"a b, 3 left", "c d, 1 left", "e, 0 left"}, ""},
		"one is gone":         {map[int]string{2: "3"}, []string{"a b, 3 left", "d e, 0 left"}, ""},
		"without a token":     {map[int]string{2: ""}, []string{"a b, 3 left"}, remedy},
		"before it has begun": {map[int]string{1: ""}, nil, remedy},
		"and the token does not help": {
			map[int]string{2: "3", 3: "3"}, []string{"a b, 3 left"}, remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.PageSize = 2
			put(t, s, "ns/a", "ns/b", "ns/c", "ns/d", "ns/e")
			requests := 0
			s.Before = func(string, string) *apierrors.StatusError {
				requests++
				if token, fails := tt.fails[requests]; fails {
					return expired(token)
				}
				return nil
			}
			got, err := listed(t, s.Client(t), secrets(""))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (err != nil) != (tt.err != "") || err != nil && !strings.HasSuffix(err.Error(), tt.err) {
				t.Errorf("error %v, want %s", err, tt.err)
			}
		})
	}
}

func TestTheCallerEndsAList(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.PageSize = 1
	put(t, s, "ns/a", "ns/b")
	enough := errors.New("enough")
	if err := s.Client(t).List(t.Context(), secrets(""), func(cluster.Page) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
	if got := s.Requests(); len(got) != 1 {
		t.Errorf("requests %q, want one", got)
	}
}

// Pages hold as many objects as fit into a few megabytes and about a second, so that memory is
// bounded and no request takes too long.
func TestTheNextPageIsSizedByTheLast(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		objects, size int
		took          time.Duration
		want          int64
	}{
		"small objects":             {50, 100, 10 * time.Millisecond, 500},
		"of 256 KiB":                {50, 256 << 10, 10 * time.Millisecond, 15},
		"larger than a page":        {1, 5 << 20, 10 * time.Millisecond, 1},
		"by a slow webhook":         {500, 100, 5 * time.Second, 99},
		"by a very slow webhook":    {2, 100, time.Minute, 1},
		"a page without an object":  {0, 0, time.Millisecond, 1},
		"slow, and then fast again": {1, 100, 2 * time.Millisecond, 499},
	} {
		objects := slices.Repeat([]json.RawMessage{make([]byte, tt.size)}, tt.objects)
		if got := cluster.NextLimit(objects, tt.took); got != tt.want {
			t.Errorf("%s: %d objects, want %d", name, got, tt.want)
		}
	}
}
