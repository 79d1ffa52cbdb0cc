package controlplane_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// status holds what webhookd crd status says of a cluster with a CRD of its own, one of another
// webhook, and several that are broken, to the transcript.
func status(t *testing.T, p *plane.Plane) {
	t.Helper()
	for _, broken := range []struct {
		kind   string
		w      func(t *testing.T, s site) scenario.Target
		change func(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition)
	}{
		{"Healthy", madeUp(), nil},
		{"Foreign", foreign, nil},
		{"Expired", expiredCertificate, nil},
		{"Portless", foreign, func(_ *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Conversion.Webhook.ClientConfig.Service.Port = new(int32(8443))
		}},
		{"Untrusted", foreign, func(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Conversion.Webhook.ClientConfig.CABundle = tlstest.NewCA(t, "another").PEM
		}},
		{"Unconverted", foreign, func(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Conversion = nil
			scenario.Version(t, crd, "v1beta1").Schema.OpenAPIV3Schema.Properties["colour"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}},
		{"Needless", foreign, func(_ *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions = crd.Spec.Versions[1:]
			crd.Spec.Conversion.Webhook.ClientConfig.Service.Name = "gone"
		}},
	} {
		s := newSite(p, "status-"+strings.ToLower(broken.kind))
		r := s.install(t, kind(broken.kind)(t), broken.w(t, s))
		s.ready(t, p)
		if broken.change != nil { // while there is no object that has to be converted
			s.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { broken.change(t, crd) })
		}
		r.Create(t, "v1", "a", `{size: 1}`)
	}
	admin := p.Kubectl(t, p.Token(plane.Admin))
	admin.Write(t, "stanza.yaml", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foreigns.example.com},
		spec: {conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}}}`)
	admin.Run(t, "apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", "stanza.yaml")

	var text strings.Builder
	for _, command := range []string{"webhookd crd status", "webhookd crd status --read", "webhookd crd status --name foreigns.example.com --read"} {
		out := admin.Shell(t, command+" || echo exit code $?", webhookFolder(t))
		text.WriteString("$ " + command + "\n")
		for line := range strings.Lines(out) {
			if !strings.Contains(line, " left out: ") { // those of the cluster's own
				text.WriteString(line)
			}
		}
		text.WriteString("\n")
	}
	seen := normal(text.String())
	for _, r := range []struct{ pattern, with string }{
		{`20\d\d-\d\d-\d\d(T\S+Z)?`, "TIME"}, {`status-[a-z]+`, "NAMESPACE"}, {` +\n`, "\n"},
	} {
		seen = regexp.MustCompile(r.pattern).ReplaceAllString(seen, r.with)
	}
	compare(t, filepath.Join("testdata", "status", "status.txt"), seen)

	var report struct {
		CRDs []struct {
			State string `json:"state"`
		} `json:"crds"`
	}
	if err := json.Unmarshal([]byte(admin.Shell(t, "webhookd crd status --read -o json || true", webhookFolder(t))), &report); err != nil || len(report.CRDs) < 7 {
		t.Errorf("as JSON: %v, %+v", err, report)
	}
}

// ready says that the Service of the site has an endpoint.
func (s site) ready(t *testing.T, p *plane.Plane) {
	t.Helper()
	_, err := p.Kube(t).DiscoveryV1().EndpointSlices(s.namespace).Create(t.Context(), &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "a", Labels: map[string]string{discoveryv1.LabelServiceName: scenario.ServiceName}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// foreign is a webhook that sets apiVersion, and is none of ours.
func foreign(t *testing.T, s site) scenario.Target {
	t.Helper()
	w := target{s.address(t), tlstest.NewCA(t, "of another webhook")}
	pair := w.ca.Issue(t, tlstest.Leaf{Hosts: []string{s.host()}})
	stub(t, w.addr, &tls.Config{Certificates: []tls.Certificate{pair.TLS(t)}}, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var review struct {
			metav1.TypeMeta `json:",inline"`

			Request struct {
				UID     string           `json:"uid"`
				Desired string           `json:"desiredAPIVersion"`
				Objects []map[string]any `json:"objects"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		for _, object := range review.Request.Objects {
			object["apiVersion"] = review.Request.Desired
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
			"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
		}})
	}))
	return w
}
