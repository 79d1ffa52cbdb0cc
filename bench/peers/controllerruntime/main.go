// Command controllerruntime serves controller-runtime's conversion handler with a typed CronTab, as
// a manager's webhook server would, without the manager.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

func main() {
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

func newHandler() (http.Handler, error) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "CronTab"}, &CronTabV1{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "CronTab"}, &CronTabV1beta1{})
	converter, err := conversion.NewHubSpokeConverter(&CronTabV1{},
		conversion.NewSpokeConverter(&CronTabV1beta1{}, toSpoke, toHub))(scheme)
	if err != nil {
		return nil, err
	}
	registry := conversion.NewRegistry()
	if err := registry.RegisterConverter(schema.GroupKind{Group: "example.com", Kind: "CronTab"}, converter); err != nil {
		return nil, err
	}
	return conversion.NewWebhookHandler(scheme, registry), nil
}
