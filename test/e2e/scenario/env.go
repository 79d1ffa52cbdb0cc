package scenario

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/dynamic"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// A Reference is the way in which a CRD refers to webhookd.
type Reference string

// The two ways there are.
const (
	ByService Reference = "Service"
	ByURL     Reference = "URL"
)

// The Service by which CRDs refer to webhookd. Its port is one that a test may listen on without
// being root.
const (
	ServiceNamespace = "webhookd"
	ServiceName      = "webhookd"
	ServicePort      = int32(9443)
	// ServiceHost is the name that kube-apiserver expects in the certificate.
	ServiceHost = ServiceName + "." + ServiceNamespace + ".svc"
)

// An Env is what a scenario runs in: a cluster, and how its CRDs refer to webhookd.
type Env struct {
	Cluster   cluster.Cluster
	Reference Reference
	// Reviews are the conversionReviewVersions.
	Reviews []string

	rules *ruleFolders // of ByRules
}

// A Target is what CRDs refer to: a webhookd, or a balancer in front of several.
type Target interface {
	// Addr is the host:port. By a Service it has to be Env.Address.
	Addr() string
	// CA issued its certificate.
	CA() *tlstest.CA
}

// Address returns the host:port where the CRDs of this Env look for webhookd; by URL that is any
// port.
func (e *Env) Address(t *testing.T) string {
	t.Helper()
	if e.Reference == ByService {
		return e.Cluster.ServiceAddress(t, ServiceNamespace, ServiceName, ServicePort)
	}
	return "127.0.0.1:0"
}

// Options are those of a webhookd where the CRDs of this Env look for it.
func (e *Env) Options(t *testing.T) webhook.Options {
	t.Helper()
	return webhook.Options{Listen: e.Address(t), Hosts: []string{ServiceHost, "127.0.0.1"}}
}

// Webhookd starts a webhookd where the CRDs of this Env look for it.
func (e *Env) Webhookd(t *testing.T, flags ...string) *webhook.Process {
	t.Helper()
	o := e.Options(t)
	if o.Flags = flags; e.rules == nil {
		return webhook.Start(t, o)
	}
	o.Flags = append(e.rules.flags(), flags...)
	e.rules.w = webhook.Start(t, o)
	return e.rules.w
}

// Replicas are webhookds with one CA behind a balancer.
type Replicas struct {
	*webhook.Balancer

	Processes []*webhook.Process
}

// CA implements Target.
func (r *Replicas) CA() *tlstest.CA { return r.Processes[0].CA() }

// Replicas starts n webhookds with one CA, and a balancer over them where the CRDs of this Env look
// for webhookd.
func (e *Env) Replicas(t *testing.T, n int, o webhook.Options) *Replicas {
	t.Helper()
	o.Hosts, o.CA = e.Options(t).Hosts, tlstest.NewCA(t, "webhookd replicas")
	r := &Replicas{}
	addrs := make([]string, 0, n)
	for range n {
		p := webhook.Start(t, o)
		r.Processes, addrs = append(r.Processes, p), append(addrs, p.Addr())
	}
	r.Balancer = webhook.NewBalancer(t, e.Address(t), addrs...)
	return r
}

// Conversion is the stanza of a CRD that refers to webhookd at addr, with a CA bundle.
func (e *Env) Conversion(addr string, caBundle []byte) *apiextensionsv1.CustomResourceConversion {
	config := &apiextensionsv1.WebhookClientConfig{CABundle: caBundle}
	path, port := server.DefaultPath, ServicePort
	if e.Reference == ByService {
		config.Service = &apiextensionsv1.ServiceReference{Namespace: ServiceNamespace, Name: ServiceName, Path: &path, Port: &port}
	} else {
		url := "https://" + addr + path
		config.URL = &url
	}
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: config, ConversionReviewVersions: e.Reviews},
	}
}

// CRDs returns a client of CustomResourceDefinitions.
func (e *Env) CRDs(t *testing.T) clientset.Interface {
	t.Helper()
	c, err := clientset.NewForConfig(e.Cluster.Config())
	if err != nil {
		t.Fatalf("client of CRDs: %v", err)
	}
	return c
}

// Dynamic returns a client of custom resources.
func (e *Env) Dynamic(t *testing.T) *dynamic.DynamicClient {
	t.Helper()
	c, err := dynamic.NewForConfig(e.Cluster.Config())
	if err != nil {
		t.Fatalf("client of custom resources: %v", err)
	}
	return c
}
