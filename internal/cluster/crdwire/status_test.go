package crdwire_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func TestFindingsOfStatus(t *testing.T) {
	t.Parallel()
	ca, other := tlstest.NewCA(t, "a"), tlstest.NewCA(t, "b")
	w := newWebhook(t, ca)
	here := webhookConversion(`{"service":{"namespace":"ns","name":"webhookd","path":"/crdconvert"}}`)
	all := []string{"v1", "v2", "v3"}
	for _, tt := range []struct {
		name, text string
		known      []string
		service    string
		dial       bool
		after      time.Duration
		want       []string // begins of the findings
	}{
		{name: "all is well", text: crdJSON(pointingHere(ca)), known: all},
		{name: "it answers", text: crdJSON(pointingHere(ca)), dial: true},
		{name: "None, and no converter", text: crdJSON(none)},
		{name: "None, and a converter", text: crdJSON(none), known: all, want: []string{"objects are not converted although webhookd can"}},
		{name: "no bundle", text: crdJSON(here), known: all, want: []string{"no caBundle"}},
		{name: "no bundle, which an injector has not filled in", text: injected(`"uid":"u",`, here), known: all, want: []string{
			"no caBundle: cert-manager's cainjector has not filled it in, see its log; it is asked by the annotation cert-manager.io/inject-ca-from",
		}},
		{name: "no bundle, which an injector will fill in", text: injected("", here), known: all},
		{name: "a broken bundle", text: crdJSON(strings.Replace(here, `"service"`, `"caBundle":"YQ==","service"`, 1)), known: all, want: []string{"caBundle is not a list"}},
		{name: "a bundle that is broken in part", text: crdJSON(strings.Replace(here, `"service"`, `"caBundle":"`+base64.StdEncoding.EncodeToString(
			append([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), ca.PEM...))+`","service"`, 1)), known: all, want: []string{"caBundle: certificate 1 cannot be read"}},
		{name: "an expired bundle", text: crdJSON(pointingHere(ca)), known: all, after: 11 * 365 * 24 * time.Hour, want: []string{"every CA of caBundle has expired"}},
		{name: "a bundle that ends", text: crdJSON(pointingHere(ca)), known: all, after: time.Until(ca.Cert.NotAfter) - time.Hour, want: []string{"the last CA of caBundle expires on"}},
		{name: "another CA", text: crdJSON(pointingHere(other)), dial: true, want: []string{"caBundle does not verify what is served for webhookd.ns.svc: x509: "}},
		{name: "no converter", text: crdJSON(pointingHere(ca)), want: []string{"no converter for this kind, neither compiled in nor in --rules; if this CRD"}},
		{name: "versions without a converter", text: crdJSON(pointingHere(ca)), known: []string{"v2"}, want: []string{
			"no converter for a version in which objects may be stored: v1", "no converter for this version: v3",
		}},
		{name: "elsewhere", text: crdJSON(webhookConversion(`{"url":"https://a.example"}`)), service: "ns/webhookd"},
		{name: "unknown review versions", text: crdJSON(strings.Replace(pointingHere(ca), `["v1"]`, `["v7"]`, 1)), known: all, want: []string{"the API server sends none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			crds, err := crdwire.Parse([]byte(tt.text))
			if err != nil || len(crds) != 1 {
				t.Fatal(err)
			}
			o := crdwire.StatusOptions{
				Dial: tt.dial, Address: w.address, Now: time.Now().Add(tt.after),
				Versions: func(gk schema.GroupKind) []string {
					if gk != (schema.GroupKind{Group: "example.com", Kind: "Thing"}) {
						t.Errorf("asked for %s", gk)
					}
					return tt.known
				},
			}
			if tt.service != "" {
				o.Service = service(t, tt.service)
			}
			s := crdwire.Inspect(t.Context(), crds[0], o)
			// What is served ends within a week, which is said as well.
			got := slices.DeleteFunc(s.Findings, func(f string) bool { return strings.HasPrefix(f, "the certificate that is served expires on") })
			if !slices.EqualFunc(tt.want, got, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
				t.Errorf("findings %s", cmp.Diff(tt.want, got))
			}
			if tt.dial && (s.Served == nil || s.Served.Verified != (tt.want == nil) || s.Served.Convertible != (tt.want == nil)) {
				t.Errorf("served %+v", s.Served)
			}
		})
	}
}

// injected is a CRD whose caBundle cert-manager fills in.
func injected(metadata, conversion string) string {
	return strings.Replace(crdJSON(conversion), `"metadata":{`, `"metadata":{`+metadata+`"annotations":{"cert-manager.io/inject-ca-from":"ns/webhookd"},`, 1)
}

func TestAFileForAnInjectorHasANote(t *testing.T) {
	t.Parallel()
	crds, err := crdwire.Parse([]byte(injected("", webhookConversion(`{"service":{"namespace":"ns","name":"webhookd"}}`))))
	if err != nil {
		t.Fatal(err)
	}
	s := crdwire.Inspect(t.Context(), crds[0], crdwire.StatusOptions{Now: time.Now(), Versions: func(schema.GroupKind) []string { return []string{"v1", "v2", "v3"} }})
	want := []string{"no caBundle yet: cert-manager's cainjector will fill it in, because of the annotation cert-manager.io/inject-ca-from"}
	if diff := cmp.Diff(want, s.Notes); diff != "" || len(s.Findings) > 0 {
		t.Errorf("%s%s", diff, s.Findings)
	}
}

// A CRD is compared with webhookd's copy, wired or not, but not if it points elsewhere.
func TestStatusCompares(t *testing.T) {
	t.Parallel()
	o := crdwire.StatusOptions{
		Now: time.Now(), Service: service(t, "ns/webhookd"),
		Versions: func(schema.GroupKind) []string { return []string{"v1", "v2", "v3"} },
		Compare:  func(crd *crdwire.CRD) (string, []string) { return "crds/" + crd.Name, []string{"it is old"} },
	}
	for name, tt := range map[string]struct {
		text     string
		compared bool
	}{
		"wired":     {crdJSON(pointingHere(tlstest.NewCA(t, "a"))), true},
		"None":      {crdJSON(none), true},
		"elsewhere": {crdJSON(webhookConversion(`{"url":"https://a.example"}`)), false},
	} {
		crds, err := crdwire.Parse([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		s := crdwire.Inspect(t.Context(), crds[0], o)
		if compared := s.Copy == "crds/"+things; compared != tt.compared || slices.Contains(s.Findings, "it is old") != tt.compared {
			t.Errorf("%s: compared with %q: %s", name, s.Copy, s.Findings)
		}
	}
}

func TestParseReadsWhatKubectlWrites(t *testing.T) {
	t.Parallel()
	crds, err := crdwire.Parse([]byte("apiVersion: v1\nkind: List\nitems:\n- " + crdJSON(none) + "\n---\nkind: Other\n---\n" + crdJSON(none)))
	if err != nil || len(crds) != 2 {
		t.Error(len(crds), err)
	}
	if _, err := crdwire.Parse([]byte(strings.Replace(crdJSON(none), "k8s.io/v1", "k8s.io/v1beta1", 1))); err == nil {
		t.Error("v1beta1 is read")
	}
	if _, err := crdwire.Parse([]byte("a: b: c")); err == nil {
		t.Error("a text that is not YAML is read")
	}
}
