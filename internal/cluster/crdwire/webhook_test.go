package crdwire_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A webhook answers reviews of things.example.com. Safe for concurrent use.
type webhook struct {
	mu      sync.Mutex
	address string
	pair    *tls.Certificate
	// answer may change what is answered; the first return is the HTTP code.
	answer func(desired string, response map[string]any) int
	seen   []*http.Request
}

// newWebhook serves as Service ns/webhookd.
func newWebhook(t *testing.T, ca *tlstest.CA) *webhook {
	t.Helper()
	w := listen(t)
	w.serve(t, ca)
	return w
}

// calling calls a webhook in a bubble, in which waits take no time. The webhook itself is on a
// network, and so outside, but its certificates have to be valid in the bubble.
func calling(t *testing.T, test func(t *testing.T, w *webhook)) {
	t.Helper()
	w := listen(t)
	synctest.Test(t, func(t *testing.T) { test(t, w) })
}

// listen returns a webhook without a certificate.
func listen(t *testing.T) *webhook {
	t.Helper()
	w := &webhook{}
	h := httptest.NewUnstartedServer(w)
	h.TLS = &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.pair, nil
		},
	}
	h.StartTLS()
	t.Cleanup(h.Close)
	w.address = h.Listener.Addr().String()
	return w
}

// serve changes the certificate.
func (w *webhook) serve(t *testing.T, ca *tlstest.CA) {
	t.Helper()
	pair := ca.Issue(t, tlstest.Leaf{Hosts: []string{"webhookd.ns.svc"}}).TLS(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pair = &pair
}

func (w *webhook) answerWith(answer func(desired string, response map[string]any) int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// ServeHTTP implements http.Handler.
func (w *webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, r)
	text, _ := io.ReadAll(r.Body)
	var review struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID     string           `json:"uid"`
			Desired string           `json:"desiredAPIVersion"`
			Objects []map[string]any `json:"objects"`
		} `json:"request"`
	}
	_ = json.Unmarshal(text, &review)
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.Desired
	}
	response := map[string]any{"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"}}
	code := http.StatusOK
	if w.answer != nil {
		code = w.answer(review.Request.Desired, response)
	}
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(map[string]any{"kind": "ConversionReview", "apiVersion": review.APIVersion, "response": response})
}

// requests are those that came: HOST METHOD PATH PROTOCOL, each once.
func (w *webhook) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]string, 0, len(w.seen))
	for _, r := range w.seen {
		all = append(all, strings.Join([]string{r.Host, r.TLS.ServerName, r.Method, r.URL.String(), r.Proto}, " "))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
