// Package managed serves a conversion handler as a manager's webhook server would, without the
// manager.
package managed

import (
	"flag"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Main reads the command line and serves a handler, until that fails.
func Main(newHandler func() (http.Handler, error)) {
	listen := flag.String("listen", "127.0.0.1:9443", "`address` to listen on")
	dir := flag.String("tls-dir", ".", "`folder` of tls.crt and tls.key")
	flag.Parse()
	handler, err := newHandler()
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	mux := http.NewServeMux()
	mux.Handle("/crdconvert", handler)
	server := &http.Server{
		Addr: *listen, Handler: mux, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second,
		MaxHeaderBytes: 1 << 20, Protocols: protocols,
	}
	log.Print(server.ListenAndServeTLS(filepath.Join(*dir, "tls.crt"), filepath.Join(*dir, "tls.key")))
	os.Exit(1)
}
