package controlplane_test

import (
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// A site is an Env with a Service of its own. The API server goes on calling for a second or two
// after a CRD is gone whose objects it could not convert; so no one else may listen there.
type site struct {
	*scenario.Env

	namespace string
}

func newSite(p *plane.Plane, namespace string) site { return site{env(p), namespace} }

// host is the name that the API server expects in a certificate.
func (s site) host() string { return scenario.ServiceName + "." + s.namespace + ".svc" }

// address is where the CRDs of the site look for webhookd.
func (s site) address(t *testing.T) string {
	t.Helper()
	return s.Cluster.ServiceAddress(t, s.namespace, scenario.ServiceName, scenario.ServicePort)
}

// options are those of a webhookd there.
func (s site) options(t *testing.T, flags ...string) webhook.Options {
	t.Helper()
	return webhook.Options{Listen: s.address(t), Hosts: []string{s.host()}, Flags: flags}
}

// install is Env.Install with the site's Service.
func (s site) install(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, w scenario.Target) *scenario.Resource {
	t.Helper()
	r := s.Install(t, crd, w)
	s.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.Service.Namespace = s.namespace
	})
	return r
}

// A target is where a CRD finds what converts, and the CA that it trusts.
type target struct {
	addr string
	ca   *tlstest.CA
}

// Addr implements scenario.Target.
func (s target) Addr() string { return s.addr }

// CA implements scenario.Target.
func (s target) CA() *tlstest.CA { return s.ca }
