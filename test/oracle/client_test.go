package oracle_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// The Service that a CRD refers to. Its certificate has to be for serviceHost.
const (
	serviceName      = "webhookd"
	serviceNamespace = "crdconvert"
	serviceHost      = serviceName + "." + serviceNamespace + ".svc"
	servicePort      = 443
)

// A hookConfig is what spec.conversion.webhook of a CRD says. Without a url it refers to the Service.
type hookConfig struct {
	url      string
	path     string // of the Service
	caBundle []byte
	reviews  []string
}

func (h *hookConfig) clientConfig() *apiextensionsv1.WebhookClientConfig {
	if h.url != "" {
		return &apiextensionsv1.WebhookClientConfig{URL: &h.url, CABundle: h.caBundle}
	}
	port := int32(servicePort)
	return &apiextensionsv1.WebhookClientConfig{
		CABundle: h.caBundle,
		Service: &apiextensionsv1.ServiceReference{
			Namespace: serviceNamespace, Name: serviceName, Path: &h.path, Port: &port,
		},
	}
}

// An apiServer is the conversion client of one API server with its connections. Its zero value has
// nothing to call.
type apiServer struct {
	// endpoint resolves the Service, as the API server does for each request: to the ClusterIP, or
	// with --enable-aggregator-routing to an endpoint.
	endpoint func() string
	// redirect, where set, is kube-proxy: it sends a new connection to another address.
	redirect func(addr string) string
	// timeout replaces the 30 s that a conversion may take.
	timeout time.Duration
	// observe, where set, sees each exchange below the client's retries. The answer is nil where
	// there was none.
	observe func(req *http.Request, resp *http.Response)

	dials atomic.Int64
}

var _ webhook.ServiceResolver = (*apiServer)(nil)

// ResolveEndpoint implements webhook.ServiceResolver.
func (a *apiServer) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if namespace != serviceNamespace || name != serviceName || port != servicePort || a.endpoint == nil {
		return nil, fmt.Errorf("service %q not found", name)
	}
	return &url.URL{Scheme: "https", Host: a.endpoint()}, nil
}

// authentication is where kube-apiserver puts its tracing and its egress selector. What it changes
// here leaves the client's behaviour as it is, but for the timeout.
func (a *apiServer) authentication(next webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	adapt := func(cfg *rest.Config, err error) (*rest.Config, error) {
		if err != nil {
			return nil, err
		}
		cfg.Dial = a.dial
		cfg.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // means none
		if a.timeout > 0 {
			cfg.Timeout = a.timeout
		}
		cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return observed{a, rt} })
		return cfg, nil
	}
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			return adapt(next.ClientConfigFor(hostPort))
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			return adapt(next.ClientConfigForService(name, namespace, port))
		},
	}
}

// dial does what client-go would, and never leaves this machine.
func (a *apiServer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if a.redirect != nil {
		addr = a.redirect(addr)
	}
	if to, err := netip.ParseAddrPort(addr); err != nil || !to.Addr().IsLoopback() {
		return nil, fmt.Errorf("not on loopback: %s", addr)
	}
	a.dials.Add(1)
	d := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, network, addr)
}

type observed struct {
	*apiServer

	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(req)
	if o.observe != nil {
		o.observe(req, resp)
	}
	return resp, err
}

// A converter is what the API server has of one CRD.
type converter struct {
	safe  runtime.ObjectConvertor
	group string
}

// converter makes the converter of a CRD whose conversion h describes.
func (a *apiServer) converter(t *testing.T, gk schema.GroupKind, versions []string, h hookConfig) *converter {
	t.Helper()
	factory, err := conversion.NewCRConverterFactory(a, a.authentication)
	if err != nil {
		t.Fatalf("converter factory: %v", err)
	}
	safe, _, err := factory.NewConverter(crd(gk, versions, &h))
	if err != nil {
		t.Fatalf("converter of %s: %v", gk, err)
	}
	return &converter{safe: safe, group: gk.Group}
}

// to converts an object, or a list of them, as the API server does after reading and before writing.
func (c *converter) to(in runtime.Object, version string) (runtime.Object, error) {
	return c.safe.ConvertToVersion(in, schema.GroupVersion{Group: c.group, Version: version})
}

func crd(gk schema.GroupKind, versions []string, h *hookConfig) *apiextensionsv1.CustomResourceDefinition {
	plural := strings.ToLower(gk.Kind) + "s"
	c := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gk.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: gk.Kind, ListKind: gk.Kind + "List"},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig: h.clientConfig(), ConversionReviewVersions: h.reviews,
				},
			},
		},
	}
	for i, v := range versions {
		c.Spec.Versions = append(c.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v, Served: true, Storage: i == 0,
		})
	}
	return c
}
