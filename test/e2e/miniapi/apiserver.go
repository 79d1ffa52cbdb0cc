package miniapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	basecompatibility "k8s.io/component-base/compatibility"
)

// An apiServer is an API server that runs.
type apiServer struct {
	addr   string
	ca     []byte
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // when ended
}

// startAPIServer starts an API server at the address of s, which may be any port of a host.
func startAPIServer(ctx context.Context, s *Server) (*apiServer, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	config, err := apiConfig(s, listener)
	if err != nil {
		listener.Close()
		return nil, err
	}
	server, err := config.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		listener.Close()
		return nil, err
	}
	a := &apiServer{addr: listener.Addr().String(), ended: make(chan struct{})}
	if a.ca, err = os.ReadFile(filepath.Join(s.dir, "apiserver.crt")); err != nil {
		listener.Close()
		return nil, err
	}
	ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.ended)
		a.err = server.GenericAPIServer.PrepareRun().RunWithContext(ctx)
	}()
	return a, nil
}

// stop stops the API server and waits until it has.
func (a *apiServer) stop() error {
	a.cancel()
	select {
	case <-a.ended:
		return a.err
	case <-time.After(patience):
		return errors.New("it does not end")
	}
}

// apiConfig does what options.CustomResourceDefinitionsServerOptions.Config does for a server that
// has no kube-apiserver to ask for Services: s finds them.
func apiConfig(s *Server, listener net.Listener) (*apiserver.Config, error) {
	o, err := apiOptions(s, listener)
	if err != nil {
		return nil, err
	}
	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := o.ServerRunOptions.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := o.RecommendedOptions.ApplyTo(generic); err != nil {
		return nil, err
	}
	if err := o.APIEnablement.ApplyTo(&generic.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme); err != nil {
		return nil, err
	}
	// No one uses these informers, so they never call anyone.
	nowhere, err := kubernetes.NewForConfig(&rest.Config{Host: "127.0.0.1"})
	if err != nil {
		return nil, err
	}
	generic.SharedInformerFactory = informers.NewSharedInformerFactory(nowhere, 0)
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
				nil, nil, generic.LoopbackClientConfig, noop.NewTracerProvider()),
		},
	}, nil
}

// apiOptions are those of a server without authentication, authorization and admission.
func apiOptions(s *Server, listener net.Listener) (*options.CustomResourceDefinitionsServerOptions, error) {
	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	// Not the registry of the process, which one server alone can have.
	registry := basecompatibility.NewComponentGlobalsRegistry()
	err := registry.Register(basecompatibility.DefaultKubeComponent,
		compatibility.DefaultKubeEffectiveVersionForTest(), utilfeature.DefaultMutableFeatureGate.DeepCopy())
	if err != nil {
		return nil, err
	}
	o.ServerRunOptions.ComponentGlobalsRegistry = registry

	r := o.RecommendedOptions
	r.Authentication, r.Authorization, r.CoreAPI, r.Admission = nil, nil, nil, nil
	r.Features.EnablePriorityAndFairness = false
	r.Etcd.StorageConfig.Transport.ServerList = []string{s.etcd.url}
	r.Etcd.StorageConfig.Prefix = "/registry"
	r.Etcd.EnableWatchCache = s.options.WatchCache
	r.SecureServing.Listener = listener
	r.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	r.SecureServing.ExternalAddress = listener.Addr().(*net.TCPAddr).IP
	r.SecureServing.ServerCert.CertDirectory = s.dir
	if err := r.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{r.SecureServing.ExternalAddress}); err != nil {
		return nil, err
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	return o, o.Validate()
}

// ready waits until the API server is.
func (s *Server) ready(ctx context.Context) error {
	transport, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; <-ticker.C {
		if err = readyz(ctx, transport, s.addr); err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-s.api.ended:
			return fmt.Errorf("it ended: %w", s.api.err)
		default:
		}
	}
}

func readyz(ctx context.Context, client *http.Client, addr string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+addr+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, text)
	}
	return err
}
