package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	livecluster "github.com/crdconvert/webhookd/internal/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/e2e/miniapi"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
)

// A list that takes longer than the API server keeps its history goes on with the present state: no
// object comes twice, and none that stays is missing.
func TestAnExpiredListGoesOn(t *testing.T) {
	t.Parallel()
	for _, cached := range []bool{false, true} {
		t.Run(fmt.Sprintf("cached=%v", cached), func(t *testing.T) {
			t.Parallel()
			server := miniapi.Start(t, miniapi.Options{WatchCache: cached})
			e := &scenario.Env{Cluster: server, Reference: scenario.ByURL, Reviews: []string{"v1"}}
			r := e.Install(t, scenario.CRD(t, "crontabs.example.com"), e.Webhookd(t))
			create := func(name string) { r.Create(t, r.Storage, name, "{}") }
			for i := range 120 {
				create(fmt.Sprintf("o-%03d", i))
			}
			api, err := livecluster.New(livecluster.Options{Kubeconfig: scenario.Kubeconfig(t, e), UserAgent: "webhookd/e2e"})
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]int{}
			pages := 0
			err = api.List(t.Context(), livecluster.CollectionPath(r.GVR(r.Storage), ""), func(page livecluster.Page) error {
				for _, text := range page.Objects {
					var object metav1.PartialObjectMetadata
					if err := json.Unmarshal(text, &object); err != nil {
						return err
					}
					seen[object.Name]++
				}
				if pages++; pages == 1 {
					create("p-new")
					if err := r.At(r.Storage).Delete(t.Context(), "o-119", metav1.DeleteOptions{}); err != nil {
						return err
					}
					server.Compact(t)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 119 {
				if name := fmt.Sprintf("o-%03d", i); seen[name] != 1 {
					t.Errorf("%s was seen %d times", name, seen[name])
				}
			}
			if pages < 2 || !cached && (seen["p-new"] != 1 || seen["o-119"] != 0) {
				t.Errorf("%d pages, and not the present state behind the first: %v", pages, seen)
			}
		})
	}
}
