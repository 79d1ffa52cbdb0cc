// Command layers serves reviews by a part of webhookd, to find what each part costs:
//
//	review  scans, moves a field, checks the metadata and answers, behind net/http
//	rules   the same with rules in place of the move
//	limits  the same in webhookd's own server, with its limits and deadlines
//
// What webhookd itself has in addition are metrics and a log.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/internal/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("layers", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:9443", "`address` to listen on")
	dir := flags.String("tls-dir", ".", "`folder` of tls.crt and tls.key")
	layer := flags.String("layer", "limits", "`part` of webhookd: review, rules or limits")
	rules := flags.String("rules", "rules.yaml", "`file` of rules")
	crds := flags.String("crds", "crd.yaml", "`file` of the CRD")
	if err := flags.Parse(args); err != nil {
		return err
	}
	registry, err := load(ctx, *rules, *crds)
	if err == nil && *layer == "review" {
		registry, err = moving(registry)
	}
	if err != nil {
		return err
	}
	handler := review.NewHandler(review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{}))
	cert, key := filepath.Join(*dir, "tls.crt"), filepath.Join(*dir, "tls.key")
	if *layer != "limits" {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(true)
		srv := &http.Server{
			Addr: *listen, Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, Protocols: protocols,
		}
		return srv.ListenAndServeTLS(cert, key)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return err
	}
	srv := server.New(server.Options{
		Webhook: handler, Listen: *listen, TLS: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		Limits: server.DefaultLimits(),
	})
	return srv.Run(ctx)
}

// load returns the kinds of a file of rules.
func load(ctx context.Context, rules, crds string) (*converters.Registry, error) {
	var files [2]ruleset.File
	for i, name := range []string{rules, crds} {
		text, err := os.ReadFile(name) //nolint:gosec // named by the caller
		if err != nil {
			return nil, err
		}
		files[i] = ruleset.File{Name: name, Text: text}
	}
	set, err := ruleset.Compiled{}.Load(ctx, files[:1], files[1:])
	if err != nil {
		return nil, err
	}
	if faults := set.Errors(); len(faults) > 0 {
		return nil, errors.New(faults[0].String())
	}
	return set.Registry()
}

// moving returns the same kinds with a converter that only moves a field.
func moving(registry *converters.Registry) (*converters.Registry, error) {
	kinds := make([]converters.Kind, 0, len(registry.Kinds()))
	for _, k := range registry.Kinds() {
		kind := *k
		kind.Converter = converters.Func(func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			found, err := obj.Move([]string{"hostPort"}, []string{"host"})
			if err == nil && !found {
				err = errors.New("no hostPort")
			}
			return err
		})
		kinds = append(kinds, kind)
	}
	return converters.NewRegistry(kinds...)
}
