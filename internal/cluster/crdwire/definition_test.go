package crdwire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

const (
	xthings     = "xthings.example.com"
	xthingsPath = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions/" + xthings
)

// xrdJSON has two versions, and claims.
func xrdJSON(conversion string) string {
	return `{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","metadata":{"name":"` + xthings + `"},
		"spec":{"group":"example.com","names":{"plural":"xthings","kind":"XThing"},"claimNames":{"plural":"things","kind":"Thing"}` + conversion + `,
		"versions":[{"name":"v1","served":true,"referenceable":true,"schema":{"openAPIV3Schema":{}}},{"name":"v2","served":true,"schema":{"openAPIV3Schema":{}}}]}}`
}

// crossplane makes the CRDs of the XRD that the server has, as Crossplane does: each is replaced.
func crossplane(t *testing.T, s *clustertest.Server) {
	t.Helper()
	var definition json.RawMessage
	if !s.Get(t, xthingsPath, &definition) {
		t.Fatal("no XRD")
	}
	crds, err := crdwire.Parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		text, err := json.Marshal(crd)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(t, crdwire.Path(crd.Name), "crossplane", string(text))
	}
}

// A CRD of an XRD is wired by the XRD, once for both CRDs, after both kinds were tried.
func TestApplyWiresTheXRD(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s, l := newWebhook(t, ca), clustertest.New(), &logged{}
	s.Put(t, xthingsPath, "kubectl-create", xrdJSON(""))
	crossplane(t, s)
	o := applyOptions(t, w, ca, l)
	o.Log = func(format string, args ...any) {
		if l.log(format, args...); strings.Contains(format, "waiting for Crossplane") {
			crossplane(t, s)
		}
	}
	if err := crdwire.Apply(t.Context(), s.Client(t), []string{things, xthings}, o); err != nil {
		t.Fatal(err)
	}
	if got := bundleOf(t, s); got != string(ca.PEM) {
		t.Errorf("caBundle of the claim's CRD: %s", got)
	}
	for _, request := range s.Requests() {
		if strings.HasPrefix(request, "patch ") && request != "patch "+xthingsPath {
			t.Errorf("something else was changed: %s", request)
		}
	}
	if len(w.seen) != 2*2*10 {
		t.Errorf("%d reviews, want one to each version of both kinds ten times", len(w.seen))
	}
}

// Without Crossplane nothing is converted, which is said.
func TestApplyWaitsForCrossplane(t *testing.T) {
	t.Parallel()
	calling(t, func(t *testing.T, w *webhook) {
		ca, s := tlstest.NewCA(t, "a"), clustertest.New()
		w.serve(t, ca)
		s.Put(t, xthingsPath, "kubectl-create", xrdJSON(""))
		crossplane(t, s)
		err := crdwire.Apply(t.Context(), s.Client(t), []string{xthings}, applyOptions(t, w, ca, &logged{}))
		if err == nil || !strings.Contains(err.Error(), "the XRD "+xthings+" has spec.conversion, but Crossplane did not write it to the CRD within 2m0s") {
			t.Errorf("error %v", err)
		}
	})
}

// If the XRD may not be read, the error says which right is missing.
func TestApplyNeedsTheXRD(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s, l := newWebhook(t, ca), clustertest.New(), &logged{}
	s.Put(t, xthingsPath, "kubectl-create", xrdJSON(""))
	crossplane(t, s)
	s.Rules = []clustertest.Rule{{Verb: "get", Path: crdwire.Path(things)}, {Verb: "patch", Path: crdwire.Path(things)}}
	err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l))
	want := "allow get of compositeresourcedefinitions.apiextensions.crossplane.io with the resourceName " + xthings
	if err == nil || !strings.Contains(err.Error(), "made by Crossplane of the XRD "+xthings) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}

func TestWireAnXRD(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: as.b}\nspec:\n%s  group: b # group\n  names: {plural: as, kind: A}\n"
	o := crdwire.WireOptions{Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}}
	got, wired, err := crdwire.Wire([]byte(strings.Replace(text, "%s", "", 1)), o)
	if err != nil || len(wired) != 1 || wired[0].Name != "as.b" {
		t.Fatalf("%v, %v", wired, err)
	}
	if diff := cmp.Diff(strings.Replace(text, "%s", stanza, 1), string(got)); diff != "" {
		t.Error(diff)
	}
	o.Names = []string{things}
	if _, wired, err = crdwire.Wire([]byte(xrdJSON("")), o); err != nil || len(wired) != 1 || wired[0].Name != xthings {
		t.Errorf("by the name of its claims: %v, %v", wired, err)
	}
}

// A CRD that Crossplane makes is not wired, not even by force.
func TestWireRefusesACRDOfAnXRD(t *testing.T) {
	t.Parallel()
	text := strings.Replace(crdJSON(none), `"metadata":{`, `"metadata":{"ownerReferences":[{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","name":"xthings.example.com","controller":true}],`, 1)
	o := crdwire.WireOptions{Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}, Force: true}
	_, _, err := crdwire.Wire([]byte(text), o)
	if err == nil || err.Error() != "line 1: things.example.com: made by Crossplane of the XRD xthings.example.com, and would be reverted, wire that XRD" {
		t.Errorf("error %v", err)
	}
}

// The status of an XRD is that of the CRDs that Crossplane makes.
func TestStatusOfAnXRD(t *testing.T) {
	t.Parallel()
	conversion := `,"conversion":` + pointingHere(tlstest.NewCA(t, "a"))
	for want, tt := range map[string]struct{ crds, definition string }{
		"XRD: Crossplane will replace spec.conversion by that of the XRD xthings.example.com: Service ns/webhookd":                           {"", conversion},
		"XRD: Crossplane will remove spec.conversion, which the XRD xthings.example.com does not have: set it there, see webhookd crd apply": {conversion, ""},
		"": {"", ""},
	} {
		crds, err := crdwire.Parse([]byte(xrdJSON(tt.crds)))
		if err != nil || len(crds) != 2 {
			t.Fatalf("%v, %v", crds, err)
		}
		s := clustertest.New()
		s.Put(t, xthingsPath, "kubectl", xrdJSON(tt.definition))
		for _, crd := range crds {
			status := crdwire.Inspect(t.Context(), crd, &crdwire.StatusOptions{API: s.Client(t), Now: time.Now(), Copy: noCopy, Versions: noVersions})
			if got := said(&status, crdwire.Wrong); want != "" && !slices.Contains(got, want) || want == "" && len(got) > 0 {
				t.Errorf("%s does not say %q: %q", status.Name, want, got)
			}
		}
	}
}
