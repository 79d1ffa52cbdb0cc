package server_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/server"
)

// nullWriter is a ResponseWriter that costs nothing.
type nullWriter struct{ header http.Header }

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *nullWriter) WriteHeader(int)             {}

// BenchmarkHandler measures what routing, limits and the deadline add to a small request: the
// difference between "bare" and "chain".
func BenchmarkHandler(b *testing.B) {
	const body = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`
	read := func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
	for _, bm := range []struct {
		name    string
		handler http.Handler
	}{
		{"bare", http.HandlerFunc(read)},
		{"chain", benchServer(b, read).Handler()},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			// As in net/http, where each request has a cancel context of its own.
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			reader := strings.NewReader(body)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/crdconvert?timeout=30s", reader)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			w := &nullWriter{header: make(http.Header)}
			for b.Loop() {
				reader.Reset(body)
				bm.handler.ServeHTTP(w, r)
			}
		})
	}
}

func benchServer(b *testing.B, h http.HandlerFunc) *server.Server {
	b.Helper()
	s := server.New(server.Options{Webhook: h, Listen: "127.0.0.1:0", TLS: &tls.Config{MinVersion: tls.VersionTLS13}})
	return s
}
