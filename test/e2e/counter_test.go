package e2e_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// A counter is a webhook that counts reviews. It changes the apiVersion of objects alone.
type counter struct {
	addr string
	ca   *tlstest.CA

	mu                     sync.Mutex
	reviews, objects       int
	inProgress, mostAtOnce int
}

func startCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{ca: tlstest.NewCA(t, "counter")}
	server := httptest.NewUnstartedServer(c)
	server.TLS = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{c.ca.Issue(t, tlstest.Leaf{Hosts: []string{"127.0.0.1"}}).TLS(t)},
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	c.addr = server.Listener.Addr().String()
	return c
}

// Addr and CA implement scenario.Target.
func (c *counter) Addr() string    { return c.addr }
func (c *counter) CA() *tlstest.CA { return c.ca }

// ServeHTTP implements http.Handler. It takes as long as it takes for calls at once to meet.
func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.begin(len(review.Request.Objects))
	defer c.end()
	<-time.After(20 * time.Millisecond)
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(object.Raw, &u.Object); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		u.SetAPIVersion(review.Request.DesiredAPIVersion)
		if u.Object["metadata"] == nil {
			u.Object["metadata"] = map[string]any{}
		}
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: u})
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // fails where the API server has gone
}

func (c *counter) begin(objects int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reviews, c.objects, c.inProgress = c.reviews+1, c.objects+objects, c.inProgress+1
	c.mostAtOnce = max(c.mostAtOnce, c.inProgress)
}

func (c *counter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inProgress--
}

// during returns the reviews that there are while do runs and until none has come for a while, as
// watch caches follow on their own; with the most at once, where that was more than two. The test
// fails if one has other than one object.
func (c *counter) during(t *testing.T, do func()) string {
	t.Helper()
	c.mu.Lock()
	c.reviews, c.objects, c.mostAtOnce = 0, 0, 0
	c.mu.Unlock()
	do()
	for last, now := -1, 0; last != now; {
		<-time.After(500 * time.Millisecond)
		c.mu.Lock()
		last, now = now, c.reviews+c.inProgress
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects != c.reviews {
		t.Errorf("%d objects in %d reviews, want one in each", c.objects, c.reviews)
	}
	if c.mostAtOnce > 2 {
		return fmt.Sprintf("%d, %d at once", c.reviews, c.mostAtOnce)
	}
	return fmt.Sprint(c.reviews)
}
