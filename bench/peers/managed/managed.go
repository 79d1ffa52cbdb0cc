// Package managed serves a conversion handler as a manager's webhook server would, without the
// manager.
package managed

import (
	"flag"
	"net/http"
	"path/filepath"
	"time"
)

// Serve reads a command line without the program's name, and serves a handler until that fails.
func Serve(args []string, handler http.Handler) error {
	flags := flag.NewFlagSet("managed", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:9443", "`address` to listen on")
	dir := flags.String("tls-dir", ".", "`folder` of tls.crt and tls.key")
	if err := flags.Parse(args); err != nil {
		return err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	mux := http.NewServeMux()
	mux.Handle("/crdconvert", handler)
	server := &http.Server{
		Addr: *listen, Handler: mux, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second,
		MaxHeaderBytes: 1 << 20, Protocols: protocols,
	}
	return server.ListenAndServeTLS(filepath.Join(*dir, "tls.crt"), filepath.Join(*dir, "tls.key"))
}
