package selfmanaged

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

// The caBundle of a CRD that Crossplane makes is set in its XRD. Until Crossplane has written it to
// the CRD, the CA does not count as trusted.
func TestTheXRDGetsTheCABundle(t *testing.T) {
	t.Parallel()
	const xrdPath = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions/" + crdName
	s := clustertest.New()
	definition := strings.NewReplacer("apiextensions.k8s.io", "apiextensions.crossplane.io", "CustomResourceDefinition", "CompositeResourceDefinition").Replace(wiredCRD("webhookd"))
	s.Put(t, xrdPath, "kubectl", definition)
	owned := strings.Replace(wiredCRD("webhookd"), `"metadata":{`, `"metadata":{"ownerReferences":[{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","name":"`+crdName+`","controller":true}],`, 1)
	s.Put(t, crdwire.Path(crdName), "crossplane", owned)
	c, l := &clock{now: time.Now()}, &logged{}
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(l.text.String(), "Crossplane has not written the caBundle of the XRD to this CRD yet: "+crdName) {
		t.Errorf("log: %s", l.text.String())
	}
	var ca secret
	if !s.Get(t, caPath, &ca) || !ca.trustedSince().IsZero() {
		t.Errorf("trusted since %s", ca.trustedSince())
	}
	var xrd crdwire.CRD
	if s.Get(t, xrdPath, &xrd); len(crdwire.BundleOf(&xrd)) != 1 {
		t.Fatal("the XRD has no caBundle")
	}
	carried := strings.Replace(owned, `"clientConfig":{`, `"clientConfig":{"caBundle":"`+base64.StdEncoding.EncodeToString(xrd.Spec.Conversion.Webhook.ClientConfig.CABundle)+`",`, 1)
	s.Put(t, crdwire.Path(crdName), "crossplane", carried)
	before := len(s.Requests())
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
		t.Fatal(err)
	}
	verify(t, s, c.Now())
	for _, request := range s.Requests()[before:] {
		if strings.HasPrefix(request, "patch ") && strings.Contains(request, "definitions") {
			t.Errorf("a second run changes %s", request)
		}
	}
	if s.Get(t, caPath, &ca); ca.trustedSince().IsZero() {
		t.Error("not trusted")
	}
}
