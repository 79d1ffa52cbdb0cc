// Command echo is the floor of what an HTTPS server costs: it reads the body into a pooled buffer
// of its size and writes the same bytes back.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9443", "`address` to listen on")
	dir := flag.String("tls-dir", ".", "`folder` of tls.crt and tls.key")
	flag.Parse()
	server := &http.Server{
		Addr: *listen, Handler: &echo{}, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		Protocols: http1(),
	}
	log.Print(server.ListenAndServeTLS(filepath.Join(*dir, "tls.crt"), filepath.Join(*dir, "tls.key")))
	os.Exit(1)
}

func http1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// echo answers with the body that came.
type echo struct{ buffers sync.Pool }

// ServeHTTP implements http.Handler.
func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buffer, ok := e.buffers.Get().(*[]byte)
	if !ok {
		buffer = new([]byte)
	}
	defer e.buffers.Put(buffer)
	if cap(*buffer) < int(r.ContentLength) {
		*buffer = make([]byte, r.ContentLength)
	}
	body := (*buffer)[:r.ContentLength]
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
