// Command echo is a bare HTTPS server that answers each request with its body: what a flood costs
// any server of net/http.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr())
	server := &http.Server{
		Handler:  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }),
		ErrorLog: log.New(io.Discard, "", 0),
	}
	log.Fatal(server.ServeTLS(l, os.Args[1]+"/tls.crt", os.Args[1]+"/tls.key"))
}
