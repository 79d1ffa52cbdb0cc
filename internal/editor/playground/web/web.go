// Package web has the page of `webhookd playground`, and serves it with its evaluation.
package web

import (
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/editor/playground"
)

//go:embed index.html style.css *.js
var page embed.FS

// csp lets the page load and call only what is below its own address. Objects go nowhere else.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// evaluations is how many run at the same time.
const evaluations = 2

// Options are the options of NewHandler.
type Options struct {
	// Token is the first segment of every path. Hosts are the values of the header Host that are
	// answered.
	Token string
	Hosts []string
	// Start is what the page shows first, nil for the first example.
	Start     *playground.Input
	Evaluator *playground.Evaluator
}

// NewHandler returns the handler of the page. It answers only requests with the token in the path
// and a known Host, so that another site in the same browser cannot reach it, not even by a DNS
// name of its own that points here. It sends no CORS headers.
func NewHandler(o Options) http.Handler {
	mux := http.NewServeMux()
	free := make(chan struct{}, evaluations)
	mux.HandleFunc("POST /api/eval", func(w http.ResponseWriter, r *http.Request) { eval(w, r, o.Evaluator, free) })
	mux.HandleFunc("GET /api/gallery", func(w http.ResponseWriter, _ *http.Request) {
		all, err := playground.Gallery()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, all)
	})
	mux.HandleFunc("GET /api/start", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, o.Start) })
	mux.Handle("GET /", http.FileServerFS(page))
	return guarded(o, mux)
}

// guarded lets requests with the token and a known Host through.
func guarded(o Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", csp)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if !slices.Contains(o.Hosts, r.Host) {
			http.Error(w, "unknown Host: open the address that webhookd playground prints", http.StatusMisdirectedRequest)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
			http.Error(w, "another site may not call this page", http.StatusForbidden)
			return
		}
		token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if !found || subtle.ConstantTimeCompare([]byte(token), []byte(o.Token)) != 1 {
			http.Error(w, "open the whole address that webhookd playground prints, with its token", http.StatusForbidden)
			return
		}
		r.URL.Path, r.URL.RawPath = "/"+rest, ""
		next.ServeHTTP(w, r)
	})
}

// eval evaluates the Input in the body. It ends when the page no longer waits.
func eval(w http.ResponseWriter, r *http.Request, evaluator *playground.Evaluator, free chan struct{}) {
	if r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "send application/json", http.StatusUnsupportedMediaType)
		return
	}
	var in playground.Input
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, playground.MaxInput)).Decode(&in); err != nil {
		code := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "cannot read the request: "+err.Error(), code)
		return
	}
	select {
	case free <- struct{}{}:
		defer func() { <-free }()
	case <-r.Context().Done():
		return
	}
	writeJSON(w, evaluator.Eval(r.Context(), in))
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // the page has gone
}

// Serve serves the page on a listener until ctx ends.
func Serve(ctx context.Context, listener net.Listener, o Options) error {
	server := &http.Server{
		Handler: NewHandler(o), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
