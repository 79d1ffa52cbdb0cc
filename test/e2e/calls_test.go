package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/test/e2e/miniapi"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// many is the number of objects, which are stored at v1.
const many = 30

// TestCalls counts the reviews that requests cost, most of them at v1beta1, and compares them with
// docs/explanation/performance.md.
func TestCalls(t *testing.T) { //nolint:tparallel // what is counted comes one after the other
	t.Parallel()
	server := miniapi.Start(t, miniapi.Options{})
	c := calls{counter: startCounter(t), minor: fmt.Sprintf("1.%d", server.Minor())}
	c.page = documentedCalls(t, c.minor)
	e := &scenario.Env{Cluster: server, Reference: scenario.ByURL, Reviews: []string{"v1"}}
	crd := scenario.CRD(t, "crontabs.example.com")
	c.Resource = e.Install(t, crd, c)
	for i := range many {
		if err := c.create(t.Context(), t, "v1", fmt.Sprintf("o-%02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	c.single(t)
	c.costs(t, "list in pages of 10, no watch cache", c.list("v1beta1", 10))
	t.Run("watch cache", func(t *testing.T) {
		c := c
		cached := &scenario.Env{Cluster: server.Another(t, miniapi.Options{WatchCache: true})}
		c.Resource = cached.Resource(t, crd)
		c.costs(t, "watch cache filled", c.list("v1", 0))
		c.costs(t, "list, watch cache", c.list("v1beta1", 0))
		c.costs(t, "list in pages of 10, watch cache", c.list("v1beta1", 10))
		c.costs(t, "event for the watch cache", func(ctx context.Context) error {
			return c.At("v1").Delete(ctx, "o-00", metav1.DeleteOptions{})
		})
	})
	if err := c.create(t.Context(), t, "v1", "o-00"); err != nil {
		t.Fatal(err)
	}
	c.costs(t, "namespace deleted (deletecollection)", func(ctx context.Context) error {
		return c.At("v1beta1").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	})
	if err := c.create(t.Context(), t, "v1", "o-01"); err != nil {
		t.Fatal(err)
	}
	e.UpdateCRD(t, c.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { scenario.SetStorage(t, crd, "v1beta1") })
	c.costs(t, "object in a StorageVersionMigration", func(ctx context.Context) error {
		_, err := c.At("v1beta1").Patch(ctx, "o-01", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
		return err
	})
	for request := range c.page {
		t.Errorf("the page has reviews for %q, which are not counted", request)
	}
}

// calls compares what requests cost with a page.
type calls struct {
	*counter
	*scenario.Resource

	minor string
	page  map[string]string // by request
}

// costs compares what one kind of request costs.
func (c calls) costs(t *testing.T, request string, do func(ctx context.Context) error) {
	t.Helper()
	got := c.during(t, func() {
		if err := do(t.Context()); err != nil {
			t.Errorf("%s: %v", request, err)
		}
	})
	want := c.page[request]
	delete(c.page, request)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reviews for %q on %s (-page +got):\n%s", request, c.minor, diff)
	}
}

// single has requests for one object, without a watch cache, which adds a call for each event.
func (c calls) single(t *testing.T) {
	t.Helper()
	at := c.At("v1beta1")
	c.costs(t, "get", func(ctx context.Context) error {
		_, err := at.Get(ctx, "o-00", metav1.GetOptions{})
		return err
	})
	c.costs(t, "create", func(ctx context.Context) error { return c.create(ctx, t, "v1beta1", "new") })
	c.costs(t, "patch", func(ctx context.Context) error {
		_, err := at.Patch(ctx, "new", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
		return err
	})
	c.costs(t, "delete", func(ctx context.Context) error { return at.Delete(ctx, "new", metav1.DeleteOptions{}) })
	apply := func(version, fields string) func(context.Context) error {
		return func(ctx context.Context) error {
			o := metav1.ApplyOptions{FieldManager: "at-" + version, Force: true}
			_, err := c.At(version).Apply(ctx, "applied", c.Object(t, version, "applied", fields), o)
			return err
		}
	}
	do := func(request func(context.Context) error) {
		if err := request(t.Context()); err != nil {
			t.Error(err)
		}
	}
	do(apply("v1beta1", "{spec: {image: a}}"))
	c.costs(t, "apply", apply("v1beta1", "{spec: {image: b}}"))
	do(apply("v1", "{spec: {replicas: 1}}"))
	c.costs(t, "apply without a change, managers at both versions", apply("v1beta1", "{spec: {image: b}}"))
	do(func(ctx context.Context) error { return c.At("v1").Delete(ctx, "applied", metav1.DeleteOptions{}) })
}

func (c calls) create(ctx context.Context, t *testing.T, version, name string) error {
	t.Helper()
	_, err := c.At(version).Create(ctx, c.Object(t, version, name, "{}"), metav1.CreateOptions{})
	return err
}

// list lists all objects.
func (c calls) list(version string, limit int64) func(context.Context) error {
	return func(ctx context.Context) error {
		n := 0
		for o := (metav1.ListOptions{Limit: limit}); ; {
			page, err := c.At(version).List(ctx, o)
			if err != nil {
				return err
			}
			n += len(page.Items)
			if o.Continue = page.GetContinue(); o.Continue == "" {
				break
			}
		}
		if n != many {
			return fmt.Errorf("%d objects in a list, want %d", n, many)
		}
		return nil
	}
}

// documentedCalls reads the table of docs/explanation/performance.md for a minor: a cell has what
// differs on some minors behind what all others have, as in "0; 1.30: 30".
func documentedCalls(t *testing.T, minor string) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(webhook.Root(t), "docs", "explanation", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| Reviews for |")
	documented := map[string]string{}
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			break
		}
		counts := strings.Split(strings.TrimSpace(cells[2]), "; ")
		count := counts[0]
		for _, other := range counts[1:] {
			if of, differs := strings.CutPrefix(other, minor+": "); differs {
				count = of
			}
		}
		documented[strings.TrimSpace(cells[1])] = count
	}
	return documented
}
