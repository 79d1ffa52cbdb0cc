// Command apiserver runs the API server of CustomResourceDefinitions, which is a part of
// kube-apiserver, for the tests of test/e2e. Without authentication, every client may do
// everything. It builds with the modules of each minor of Kubernetes that has a file of
// requirements here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/tracing"
)

// A server is what the flags ask for.
type server struct {
	etcd       string
	dir        string
	watchCache bool
	listener   net.Listener
}

func main() {
	var s server
	flag.StringVar(&s.etcd, "etcd", "", "the URL of etcd")
	flag.StringVar(&s.dir, "dir", "", "the folder where the certificate goes, and where a file NAMESPACE.NAME.PORT has the host:port of a Service")
	flag.BoolVar(&s.watchCache, "watch-cache", true, "serve from the watch cache, as kube-apiserver does")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the host:port to standard output and serves until standard input is closed, as it is
// when the test's process has ended in whatever way.
func (s *server) run() (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	config, err := s.config()
	if err != nil {
		return err
	}
	api, err := config.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return err
	}
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	fmt.Fprintln(os.Stdout, s.listener.Addr())
	return api.GenericAPIServer.PrepareRun().Run(ctx.Done()) //nolint:staticcheck // 1.30 has no other
}

// config does what options.CustomResourceDefinitionsServerOptions.Config does for a server that
// has no kube-apiserver to ask for Services: s finds them.
func (s *server) config() (*apiserver.Config, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	// No one uses these informers, so they never call anyone.
	generic.ClientConfig = &rest.Config{Host: "127.0.0.1"}
	nowhere, err := kubernetes.NewForConfig(generic.ClientConfig)
	if err != nil {
		return nil, err
	}
	generic.SharedInformerFactory = informers.NewSharedInformerFactory(nowhere, 0)
	err = errors.Join(
		o.ServerRunOptions.ApplyTo(&generic.Config),
		o.RecommendedOptions.ApplyTo(generic),
		o.APIEnablement.ApplyTo(&generic.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme),
	)
	if err != nil {
		return nil, err
	}
	definitions := utilopenapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(openapi.GetOpenAPIDefinitions)
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	return &apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(
				*o.RecommendedOptions.Etcd, generic.ResourceTransformers, generic.StorageObjectCountTracker),
			ServiceResolver: s,
			AuthResolverWrapper: webhook.NewDefaultAuthenticationInfoResolverWrapper(
				nil, nil, generic.LoopbackClientConfig, tracing.NewNoopTracerProvider()),
		},
	}, nil
}

// options are those of a server without authentication, authorization and admission.
func (s *server) options() (*options.CustomResourceDefinitionsServerOptions, error) {
	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, os.Stderr)
	r := o.RecommendedOptions
	r.Authentication, r.Authorization, r.CoreAPI, r.Admission = nil, nil, nil, nil
	r.Features.EnablePriorityAndFairness = false
	r.Etcd.StorageConfig.Transport.ServerList = []string{s.etcd}
	r.Etcd.StorageConfig.Prefix = "/registry"
	r.Etcd.EnableWatchCache = s.watchCache
	addr, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%v is no address of TCP", s.listener.Addr())
	}
	r.SecureServing.Listener, r.SecureServing.BindPort, r.SecureServing.ExternalAddress = s.listener, addr.Port, addr.IP
	r.SecureServing.ServerCert.CertDirectory = s.dir
	err := errors.Join(
		r.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{addr.IP}),
		o.Complete(),
		o.Validate(),
	)
	return o, err
}

// ResolveEndpoint implements webhook.ServiceResolver.
func (s *server) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	addr, err := os.ReadFile(filepath.Join(s.dir, fmt.Sprintf("%s.%s.%d", namespace, name, port)))
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: "https", Host: string(addr)}, nil
}
