package server

import (
	"net/http"
	"net/http/pprof" // adds itself to http.DefaultServeMux, which nothing here serves
	"net/netip"

	"github.com/go-chi/chi/v5"
)

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
		r.Post("/symbol", pprof.Symbol)
		r.Get("/trace", pprof.Trace)
	})
}

func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addr, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !addr.Addr().Unmap().IsLoopback() {
			adminRefusal().notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
