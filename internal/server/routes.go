package server

import (
	"fmt"
	"net/http"
	"net/http/pprof" // adds itself to http.DefaultServeMux, which nothing here serves
	"net/netip"
	"strings"

	"github.com/go-chi/chi/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
)

const (
	readyPath   = "/readyz"
	livePath    = "/livez"
	metricsPath = "/metrics"
)

// webhookRoutes serves the reviews and readiness. Paths are neither cleaned nor redirected, because
// kube-apiserver follows redirects.
func (s *Server) webhookRoutes() http.Handler {
	r := newRouter(refusal{s.reject, "check the path in the CRD's clientConfig"})
	path := strings.TrimSuffix(s.opts.Path, "/")
	r.Post(path, s.serveReview)
	r.Post(path+"/", s.serveReview)
	getAndHead(r, readyPath, s.health.serveReady)
	return s.guard(s.fastPath(path, r))
}

// fastPath serves kube-apiserver's requests without the router, which copies each request to give
// it a context (BenchmarkHandler). The answers are the same.
func (s *Server) fastPath(path string, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == path && r.URL.RawPath == "" {
			s.serveReview(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	})
}

// adminRoutes serves probes, metrics and, if enabled, profiles.
func (s *Server) adminRoutes() http.Handler {
	r := newRouter(adminRefusal())
	getAndHead(r, livePath, serveLive)
	getAndHead(r, readyPath, s.health.serveReady)
	if s.opts.Metrics != nil {
		getAndHead(r, metricsPath, s.opts.Metrics.ServeHTTP)
	}
	if s.opts.Pprof {
		pprofRoutes(r)
	}
	return r
}

// A refusal is a router's answer to requests without a route.
type refusal struct {
	reject func(w http.ResponseWriter, code int, reason metav1.StatusReason, message string)
	advice string // for an unknown path
}

func adminRefusal() refusal {
	return refusal{apistatus.Write, "this is the admin listener, which has probes and metrics"}
}

func (f refusal) notFound(w http.ResponseWriter, req *http.Request) {
	f.reject(w, http.StatusNotFound, metav1.StatusReasonNotFound,
		fmt.Sprintf("webhookd serves nothing at this path; %s: %.200q", f.advice, req.URL.Path))
}

// newRouter returns an empty chi router whose own answers are Statuses.
func newRouter(f refusal) chi.Router {
	r := chi.NewRouter()
	r.NotFound(f.notFound)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		// chi does not expose the allowed methods, and calls this for a method that it does not
		// know on any path.
		allowed := allowedMethods(r, req.URL.EscapedPath())
		if len(allowed) == 0 {
			f.notFound(w, req)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		f.reject(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
			"method not allowed here: use "+strings.Join(allowed, " or "))
	})
	return r
}

func allowedMethods(routes chi.Routes, path string) []string {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if routes.Match(chi.NewRouteContext(), method, path) {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

func getAndHead(r chi.Router, path string, h http.HandlerFunc) {
	r.Get(path, h)
	r.Head(path, h)
}

// pprofRoutes serves profiles to clients on this host, which in a cluster means `kubectl
// port-forward`. Others get 404 (see kubernetes#81023).
func pprofRoutes(r chi.Router) {
	r.Route("/debug/pprof", func(r chi.Router) {
		r.Use(loopbackOnly)
		r.Get("/", pprof.Index)
		r.Get("/{profile}", pprof.Index)
		r.Get("/cmdline", pprof.Cmdline)
		r.Get("/profile", pprof.Profile)
		r.Get("/symbol", pprof.Symbol)
		r.Get("/trace", pprof.Trace)
	})
}

func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addr, _ := netip.ParseAddrPort(r.RemoteAddr) // zero if that fails
		if !addr.Addr().Unmap().IsLoopback() {
			adminRefusal().notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
