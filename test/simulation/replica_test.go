package simulation_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// period is the default of rules-transition.
const period = 10 * time.Minute

// A replica is one webhookd: its handler of reviews, and the rules that it knows.
type replica struct {
	*cluster
	handler http.Handler
	rules   int // generation
	down    bool
	earlier []earlierRules // the oldest first

	source *tlsreload.Source
	leaf   *x509.Certificate // of the Secret in dir
	mounts time.Time         // when dir gets the newest Secret, if the replica runs
	dir    string
}

type earlierRules struct {
	rules int
	until time.Time
}

func newReplica(c *cluster) *replica {
	r := &replica{cluster: c}
	r.handler = review.NewHandler(review.NewReviewer(r.registry, review.Hooks{}))
	return r
}

func (r *replica) registry() *converters.Registry {
	before, known := r.knows()
	return r.kind.registry(r.t, r.storage, r.rules, before, known)
}

// knows returns the rules that are all that other replicas may have, and those that all know.
func (r *replica) knows() (before, known []int) {
	for _, e := range r.earlier {
		switch age := time.Since(e.until); {
		case age < period:
			before = append(before, e.rules)
		case age < 2*period:
			known = append(known, e.rules)
		}
	}
	return before, known
}

// reload reads the rules, as a replica does within a minute after they have changed.
func (r *replica) reload() {
	if r.rules != r.current {
		r.earlier = append(r.earlier, earlierRules{r.rules, time.Now()})
		r.rules = r.current
	}
}

// start makes a replica that was down ready. It knows the rules in the file only.
func (r *replica) start() { r.rules, r.down, r.earlier, r.source = r.current, false, nil, nil }

// convert converts objects in place, as the API server calls the webhook: those at other versions.
func (r *replica) convert(version string, objects ...*object) error {
	var others []*object
	var texts [][]byte
	for _, o := range objects {
		if o.GroupVersionKind().Version != version {
			others, texts = append(others, o), append(texts, jsonOf(o.Object))
		}
	}
	if len(others) == 0 {
		return nil
	}
	w := httptest.NewRecorder()
	body := bytes.NewReader(reviewclient.Request("v1", "uid", group+"/"+version, texts...))
	post := httptest.NewRequestWithContext(r.t.Context(), http.MethodPost, "/convert", body)
	post.Header.Set("Content-Type", "application/json")
	r.handler.ServeHTTP(w, post)
	var answer apiextensionsv1.ConversionReview
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		return fmt.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
	if a := answer.Response; a.Result.Status != "Success" || a.UID != "uid" || len(a.ConvertedObjects) != len(others) {
		return fmt.Errorf("%d objects for %d: %s", len(a.ConvertedObjects), len(others), a.Result.Message)
	}
	for i, o := range answer.Response.ConvertedObjects {
		if err := others[i].UnmarshalJSON(o.Raw); err != nil {
			return err
		}
		r.prune(others[i])
	}
	return nil
}
