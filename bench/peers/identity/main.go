// Command identity is the floor of what a conversion webhook costs: it reads ConversionReviews with
// encoding/json, and answers with the objects' texts at desiredAPIVersion. It changes nothing else.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9443", "`address` to listen on")
	dir := flag.String("tls-dir", ".", "`folder` of tls.crt and tls.key")
	flag.Parse()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	server := &http.Server{
		Addr: *listen, Handler: http.HandlerFunc(serve), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		Protocols: protocols,
	}
	log.Print(server.ListenAndServeTLS(filepath.Join(*dir, "tls.crt"), filepath.Join(*dir, "tls.key")))
	os.Exit(1)
}

type review struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Request    struct {
		UID               string            `json:"uid"`
		DesiredAPIVersion string            `json:"desiredAPIVersion"`
		Objects           []json.RawMessage `json:"objects"`
	} `json:"request"`
}

type answer struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Response   response `json:"response"`
}

type response struct {
	UID              string            `json:"uid"`
	ConvertedObjects []json.RawMessage `json:"convertedObjects"`
	Result           map[string]string `json:"result"`
}

func serve(w http.ResponseWriter, r *http.Request) {
	var in review
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, "not a ConversionReview", http.StatusBadRequest)
		return
	}
	out := answer{in.Kind, in.APIVersion, response{
		UID: in.Request.UID, ConvertedObjects: in.Request.Objects, Result: map[string]string{"status": "Success"},
	}}
	for i, object := range in.Request.Objects {
		out.Response.ConvertedObjects[i] = atVersion(object, in.Request.DesiredAPIVersion)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(out); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// atVersion replaces the first apiVersion, which is the object's own: the API server sorts names.
func atVersion(object []byte, version string) []byte {
	name := []byte(`"apiVersion":"`)
	start := bytes.Index(object, name) + len(name)
	end := start + bytes.IndexByte(object[start:], '"')
	return append(append(append([]byte{}, object[:start]...), version...), object[end:]...)
}
