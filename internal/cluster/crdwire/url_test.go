package crdwire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A CRD with a URL takes more than one request. Whatever a run is cut by, the CRD points at the one
// webhook or at the other one, with all that belongs to it: never at the Service with the CA, the
// path or the review versions of the URL.
func TestApplyFromAURLMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w := newWebhook(t, ca)
	before := webhookConversion(`{"url":"https://a.example/convert","caBundle":"Cg=="}`)
	wants := map[string]apiextensionsv1.CustomResourceConversion{}
	for _, name := range []string{"before", "after"} {
		s := clustertest.New()
		s.Put(t, crdwire.Path(things), "kubectl", crdJSON(before))
		if name == "after" {
			o := applyOptions(t, w, ca, &logged{})
			o.Force = true
			if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, o); err != nil {
				t.Fatal(err)
			}
		}
		wants[name] = conversionOf(t, s)
	}
	for patches := range 3 {
		s, left := clustertest.New(), patches
		s.Put(t, crdwire.Path(things), "kubectl", crdJSON(before))
		s.Before = func(verb, _ string) *apierrors.StatusError {
			if verb == "patch" {
				if left--; left < 0 {
					return apierrors.NewBadRequest("cut")
				}
			}
			return nil
		}
		o := applyOptions(t, w, ca, &logged{})
		o.Force = true
		err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, o)
		if (err == nil) != (patches == 2) {
			t.Errorf("after %d patches: %v", patches, err)
		}
		want := wants["after"]
		if patches == 0 {
			want = wants["before"]
		}
		if diff := cmp.Diff(want, conversionOf(t, s)); diff != "" {
			t.Errorf("after %d patches (-want +got):\n%s", patches, diff)
		}
	}
}

func conversionOf(t *testing.T, s *clustertest.Server) apiextensionsv1.CustomResourceConversion {
	t.Helper()
	var crd crdwire.CRD
	if !s.Get(t, crdwire.Path(things), &crd) {
		t.Fatal("no CRD")
	}
	return *crd.Spec.Conversion
}

func TestURLsThatAnAPIServerIsUnlikelyToReach(t *testing.T) {
	t.Parallel()
	for url, unlikely := range map[string]bool{
		"https://localhost:9443/crdconvert": true, "https://127.0.0.1/": true, "https://[::1]:9443/": true, "https://a.localhost/": true,
		"https://webhookd.ns.svc/crdconvert": true, "https://webhookd.ns.svc.cluster.local:443/": true, "https://webhookd.ns.svc.cluster.local./": true,
		"https://webhookd.example.com/": false, "https://10.0.0.1/": false, "https://svc/": false, "https://localhost.example.com/": false,
	} {
		target, err := crdwire.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		if why := target.Unreachable(); (why != "") != unlikely {
			t.Errorf("%s: %q, want a reason: %t", url, why, unlikely)
		}
	}
	if why := service(t, "ns/localhost").Unreachable(); why != "" {
		t.Errorf("a Service: %s", why)
	}
}
