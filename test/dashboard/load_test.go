package dashboard_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/wait"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// A traffic calls webhookd with kube-apiserver's own conversion client, as the Service would spread
// the calls, and with other requests. They all end with the test.
type traffic struct {
	t        *testing.T
	replicas atomic.Pointer[[]*replica]
	calls    atomic.Int64
	kinds    map[string]*apiclient.Converter // by the folder of the example
	client   *http.Client
	pending  sync.WaitGroup

	mu    sync.Mutex
	wrong []string
}

func newTraffic(t *testing.T, f *fleet, replicas ...*replica) *traffic {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: f.ca.Pool()}, ForceAttemptHTTP2: true}
	c := &traffic{t: t, client: &http.Client{Transport: transport}}
	c.use(replicas...)
	c.kinds = c.converters(f.ca.PEM)
	t.Cleanup(func() {
		c.pending.Wait() // each has the test's context, or ends at once
		transport.CloseIdleConnections()
		for _, problem := range c.wrong {
			t.Error(problem)
		}
	})
	return c
}

// converters are those of a kube-apiserver whose CRDs have this caBundle.
func (c *traffic) converters(caBundle []byte) map[string]*apiclient.Converter {
	c.t.Helper()
	server := &apiclient.Server{Endpoint: c.endpoint}
	hook := apiclient.Hook{Path: "/crdconvert", CABundle: caBundle, Reviews: []string{"v1"}}
	return map[string]*apiclient.Converter{
		"widget":        server.Converter(c.t, schema.GroupKind{Group: "shop.example.com", Kind: "Widget"}, []string{"v1", "v1beta1", "v1alpha1"}, hook),
		"crontab-rules": server.Converter(c.t, schema.GroupKind{Group: "rules.example.com", Kind: "CronTab"}, []string{"v1", "v1beta1"}, hook),
		"labels":        server.Converter(c.t, schema.GroupKind{Group: "org.example.com", Kind: "Project"}, []string{"v1", "v1alpha1"}, hook),
	}
}

// use sends to these replicas from now on.
func (c *traffic) use(replicas ...*replica) { c.replicas.Store(&replicas) }

// endpoint gives the first replica three calls of five.
func (c *traffic) endpoint() string {
	replicas := *c.replicas.Load()
	if c.calls.Add(1)%5 < 3 {
		return replicas[0].Addr
	}
	return replicas[len(replicas)-1].Addr
}

// A stream converts an object, or a list of so many, again and again.
type stream struct {
	example, object, to string
	list                int
	rate                float64 // per second, on average
	wave                float64 // period in which the rate rises and falls, in seconds
}

// keep sends streams until stop is called.
func (c *traffic) keep(streams ...stream) (stop context.CancelFunc) {
	c.t.Helper()
	objects := make([]runtime.Object, len(streams))
	for i, s := range streams {
		object := objectOf(c.t, s.example, s.object)
		if objects[i] = object; s.list > 0 {
			objects[i] = listOf(object, s.list)
		}
	}
	ctx, stop := context.WithCancel(c.t.Context())
	c.pending.Go(func() {
		const pace = 10 * time.Millisecond
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		due := make([]float64, len(streams))
		for began := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			at := time.Since(began).Seconds()
			for i, s := range streams {
				due[i] += pace.Seconds() * s.rate * (1 + 0.6*math.Sin(2*math.Pi*at/s.wave))
				for ; due[i] >= 1; due[i]-- {
					c.pending.Go(func() { c.succeed(s, objects[i]) })
				}
			}
		}
	})
	return stop
}

func (c *traffic) succeed(s stream, object runtime.Object) {
	if _, err := c.kinds[s.example].To(object, s.to); err != nil && c.t.Context().Err() == nil {
		c.report("%s to %s: %v", s.object, s.to, err)
	}
}

func (c *traffic) report(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wrong) < 10 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// post sends a body without kube-apiserver's client, and returns the code of the answer.
func (c *traffic) post(address, contentType string, body io.Reader, length int) int {
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "https://"+address+"/crdconvert", body)
	if err != nil {
		c.report("%v", err)
		return 0
	}
	request.Header.Set("Content-Type", contentType)
	request.ContentLength = int64(length)
	response, err := c.client.Do(request)
	if err != nil {
		if c.t.Context().Err() == nil {
			c.report("%v", err)
		}
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // for the next request on the connection
	return response.StatusCode
}

// refused sends two requests that are not reviews.
func (c *traffic) refused() {
	for body, want := range map[string]int{"{}": http.StatusBadRequest, "text": http.StatusUnsupportedMediaType} {
		contentType := "application/json"
		if body == "text" {
			contentType = "text/plain"
		}
		if code := c.post(c.endpoint(), contentType, strings.NewReader(body), len(body)); code != want {
			c.report("HTTP %d, want %d", code, want)
		}
	}
}

// crowd sends two large bodies that take most of the memory and stall, and others that have to
// wait: either these are refused, or the slow ones.
func (c *traffic) crowd(to *replica, stall time.Duration) {
	c.t.Helper()
	const length = 9 << 20
	object, err := objectOf(c.t, "widget", "plain.v1").MarshalJSON()
	if err != nil {
		c.t.Fatal(err)
	}
	body := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002",` +
		`"desiredAPIVersion":"shop.example.com/v1beta1","objects":[` + strings.Repeat(" ", length) + string(object) + `]}}`
	for range 2 {
		slow, more := io.Pipe()
		c.pending.Go(func() {
			defer func() { _ = more.Close() }() // a pipe has no error
			if _, err := io.WriteString(more, body[:length]); err == nil {
				wait.For(c.t, stall)
				_, _ = io.WriteString(more, body[length:]) // refused meanwhile, or not
			}
		})
		c.pending.Go(func() { c.post(to.Addr, "application/json", slow, len(body)) })
	}
	wait.For(c.t, stall/4)
	for range 4 {
		c.pending.Go(func() { c.post(to.Addr, "application/json", strings.NewReader(body), len(body)) })
	}
}

// objectOf reads an object of an example.
func objectOf(t *testing.T, example, name string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(read(t, "examples", example, "cases", name+".yaml"), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// with sets a field.
func with(t *testing.T, object *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
	return object
}

func listOf(object *unstructured.Unstructured, n int) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(object.GetAPIVersion())
	list.SetKind(object.GetKind() + "List")
	for range n {
		list.Items = append(list.Items, *object)
	}
	return list
}
