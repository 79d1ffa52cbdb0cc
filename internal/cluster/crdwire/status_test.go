package crdwire_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	ca, other := tlstest.NewCA(t, "a"), tlstest.NewCA(t, "b")
	w := newWebhook(t, ca)
	here := webhookConversion(`{"service":{"namespace":"ns","name":"webhookd","path":"/crdconvert"}}`)
	all := []string{"v1", "v2", "v3"}
	differing := strings.Replace(schemed(none), `"properties":{}}`, `"properties":{"a":{"type":"string"}}}`, 1)
	for _, tt := range []struct {
		name, text string
		known      []string
		service    string
		dial       bool
		after      time.Duration
		state      crdwire.State
		want       []string // beginnings of what is wrong, or to be noted
	}{
		{name: "all is well", text: crdJSON(pointingHere(ca)), known: all, state: crdwire.OK},
		{name: "it answers", text: crdJSON(pointingHere(ca)), dial: true, state: crdwire.OK},
		{name: "nothing is given", text: crdJSON(pointingHere(ca)), state: crdwire.NotChecked},
		{name: "another webhook", text: crdJSON(webhookConversion(`{"url":"https://a.example"}`)), state: crdwire.NotChecked},
		{name: "None, and no schemas", text: crdJSON(none), state: crdwire.NotChecked},
		{name: "None, and the same schemas", text: schemed(none), state: crdwire.OK},
		{name: "None, and other schemas", text: differing, state: crdwire.Wrong, want: []string{
			"strategy: None, but v1 and v2 differ, and a write at one drops what only the other has: .spec.a",
		}},
		{name: "None, and a converter", text: schemed(none), known: all, state: crdwire.Wrong, want: []string{"rules: objects are not converted although webhookd can"}},
		{name: "one version", text: inCluster(oneVersion(here)), state: crdwire.Wrong, want: []string{"webhook: Service ns/webhookd: no version needs a webhook", "caBundle: there is none"}},
		{name: "no bundle", text: inCluster(crdJSON(here)), known: all, state: crdwire.Wrong, want: []string{"caBundle: there is none: the API server trusts"}},
		{name: "no bundle in a file of Git", text: crdJSON(here), known: all, state: crdwire.OK, want: []string{"caBundle: there is none: fill it in, or let the cluster do so"}},
		{name: "no bundle, which an injector has not filled in", text: injected(`"uid":"u",`, here), known: all, state: crdwire.Wrong, want: []string{
			"caBundle: cert-manager's cainjector has not filled it in, see its log; it is asked by the annotation cert-manager.io/inject-ca-from",
		}},
		{name: "no bundle, which an injector will fill in", text: injected("", here), known: all, state: crdwire.OK, want: []string{
			"caBundle: cert-manager's cainjector will fill it in, because of the annotation cert-manager.io/inject-ca-from",
		}},
		{name: "a broken bundle", text: crdJSON(strings.Replace(here, `"service"`, `"caBundle":"YQ==","service"`, 1)), known: all, state: crdwire.Wrong, want: []string{"caBundle: it is not a list"}},
		{name: "a bundle that is broken in part", text: crdJSON(strings.Replace(here, `"service"`, `"caBundle":"`+base64.StdEncoding.EncodeToString(
			append([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), ca.PEM...))+`","service"`, 1)), known: all, state: crdwire.Wrong, want: []string{"caBundle: certificate 1 cannot be read"}},
		{name: "an expired bundle", text: crdJSON(pointingHere(ca)), known: all, after: 11 * 365 * 24 * time.Hour, state: crdwire.Wrong, want: []string{"caBundle: every CA has expired"}},
		{name: "a bundle that ends", text: crdJSON(pointingHere(ca)), known: all, after: time.Until(ca.Cert.NotAfter) - time.Hour, state: crdwire.OK, want: []string{"caBundle: the last CA expires on"}},
		{name: "another CA", text: crdJSON(pointingHere(other)), dial: true, state: crdwire.Wrong, want: []string{"certificate: caBundle does not verify what is served for webhookd.ns.svc: x509: "}},
		{name: "no converter", text: crdJSON(pointingHere(ca)), service: "ns/webhookd", state: crdwire.Wrong, want: []string{"rules: no converter for this kind, neither compiled in nor in --rules"}},
		{name: "versions without a converter", text: crdJSON(pointingHere(ca)), known: []string{"v2"}, state: crdwire.Wrong, want: []string{
			"rules: no converter for v1, v3",
		}},
		{name: "unknown review versions", text: crdJSON(strings.Replace(pointingHere(ca), `["v1"]`, `["v7"]`, 1)), known: all, state: crdwire.Wrong, want: []string{"webhook: the API server sends none"}},
		{name: "the API server's own host", text: crdJSON(webhookConversion(`{"url":"https://localhost/a"}`)), state: crdwire.NotChecked, want: []string{"webhook: https://localhost/a: "}},
		{name: "several stored versions", text: strings.Replace(crdJSON(pointingHere(ca)), `["v1"]}}`, `["v0","v1"]}}`, 1), state: crdwire.Wrong, want: []string{
			"stored: objects may be stored in a version that spec.versions lacks: v0",
			"stored: objects that were not written since may be stored in each of v0, v1, which keeps these versions: webhookd migrate things.example.com --dry-run",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := &crdwire.StatusOptions{
				Now: time.Now().Add(tt.after), Copy: noCopy, Ruled: tt.service != "",
				Versions: func(gk schema.GroupKind) []string {
					if gk != (schema.GroupKind{Group: "example.com", Kind: "Thing"}) {
						t.Errorf("asked for %s", gk)
					}
					return tt.known
				},
			}
			if tt.dial {
				o.Address = w.address
			}
			if tt.service != "" {
				o.Service = service(t, tt.service)
			}
			s := crdwire.Inspect(t.Context(), parsed(t, tt.text), o)
			got := said(&s, crdwire.Wrong, crdwire.Note)
			// What is served ends within a week, which is said as well.
			got = slices.DeleteFunc(got, func(f string) bool { return strings.HasPrefix(f, "certificate: what is served expires on") })
			if !slices.EqualFunc(tt.want, got, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
				t.Errorf("says %s", cmp.Diff(tt.want, got))
			}
			if s.State != tt.state {
				t.Errorf("state %q, want %q", s.State, tt.state)
			}
			if tt.dial && slices.Contains(said(&s, crdwire.OK), "reviews: test reviews succeed") != (tt.want == nil) {
				t.Errorf("%+v", s.Results)
			}
		})
	}
}

// inCluster gives a CRD the UID that API servers give.
func inCluster(crd string) string {
	return strings.Replace(crd, `"metadata":{`, `"metadata":{"uid":"u",`, 1)
}

// In a cluster, the API server reads the objects, and the Service has to be there. What may not be
// read is not checked.
func TestStatusOfACluster(t *testing.T) {
	t.Parallel()
	const (
		serviceText = `{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"ns","name":"webhookd"},"spec":{"ports":[{"port":%d}]}}`
		slices1     = `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"namespace":"ns","name":"s","labels":{"kubernetes.io/service-name":"webhookd"}},"endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":%t}}]}`
		object      = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"namespace":"a","name":"b"}}`
	)
	ca := tlstest.NewCA(t, "a")
	for _, tt := range []struct {
		name  string
		port  int
		ready bool
		rules []clustertest.Rule
		fails bool
		want  []string
		state crdwire.State
	}{
		{name: "all is well", port: 443, ready: true, state: crdwire.OK, want: []string{
			"owner: ok: written by kubectl on ", "Service: ok: 1 ready endpoints", "read: ok: an object was read at v1, v2",
		}},
		{name: "no port", port: 80, ready: true, state: crdwire.Wrong, want: []string{
			"Service: WRONG: ns/webhookd: no port 443 in the Service, correct it there or in spec.conversion of the CRD",
		}},
		{name: "no endpoint", port: 443, state: crdwire.Wrong, want: []string{"Service: WRONG: ns/webhookd: no endpoint of the Service is ready"}},
		{name: "no Service", state: crdwire.Wrong, want: []string{"Service: WRONG: ns/webhookd: there is no such Service"}},
		{name: "a conversion fails", port: 443, ready: true, fails: true, state: crdwire.Wrong, want: []string{
			"read: WRONG: v2: /apis/example.com/v2/things: cannot list: Internal error occurred: conversion webhook for example.com/v1, Kind=Thing failed (500)",
		}},
		{name: "no rights", port: 443, ready: true, rules: []clustertest.Rule{{Verb: "get", Path: crdwire.Path(things)}}, state: crdwire.NotChecked, want: []string{
			"Service: not checked: /api/v1/namespaces/ns/services/webhookd: cannot get: ", "read: not checked: v1: /apis/example.com/v1/things: cannot list: ",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Put(t, crdwire.Path(things), "kubectl", crdJSON(pointingHere(ca)))
			s.Put(t, "/apis/example.com/v1/namespaces/a/things/b", "kubectl", object)
			if tt.port > 0 {
				s.Put(t, "/api/v1/namespaces/ns/services/webhookd", "kubectl", fmt.Sprintf(serviceText, tt.port))
			}
			s.Put(t, "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices/s", "kubectl", fmt.Sprintf(slices1, tt.ready))
			s.Rules = tt.rules
			s.Before = func(verb, path string) *apierrors.StatusError {
				if tt.fails && verb == "list" && strings.HasPrefix(path, "/apis/example.com/v2/") {
					return apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1, Kind=Thing failed"))
				}
				return nil
			}
			api := s.Client(t)
			crd, err := crdwire.Read(t.Context(), api, things)
			if err != nil {
				t.Fatal(err)
			}
			status := crdwire.Inspect(t.Context(), crd, &crdwire.StatusOptions{API: api, Read: true, Now: time.Now(), Copy: noCopy, Versions: noVersions})
			got := make([]string, len(status.Results))
			for i, r := range status.Results {
				got[i] = r.Check + ": " + string(r.State) + ": " + r.Text
			}
			for _, want := range tt.want {
				if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
					t.Errorf("does not say %q:\n%s", want, strings.Join(got, "\n"))
				}
			}
			if status.State != tt.state {
				t.Errorf("state %q, want %q:\n%s", status.State, tt.state, strings.Join(got, "\n"))
			}
		})
	}
}

// Two managers that each apply a part of spec.conversion undo what the other applies.
func TestStatusNamesTheOwners(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, crdwire.Path(things), "helm", crdJSON(pointingHere(tlstest.NewCA(t, "a"))))
	s.Apply(t, crdwire.Path(things), "argocd", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+things+`"},
		"spec":{"conversion":{"webhook":{"clientConfig":{"service":{"name":"other","namespace":"ns"}}}}}}`)
	api := s.Client(t)
	crd, err := crdwire.Read(t.Context(), api, things)
	if err != nil {
		t.Fatal(err)
	}
	status := crdwire.Inspect(t.Context(), crd, &crdwire.StatusOptions{API: api, Now: time.Now(), Copy: noCopy, Versions: noVersions})
	const want = "owner: several managers write spec.conversion, and each can undo what another wrote: argocd, helm"
	if got := said(&status, crdwire.Note); !slices.Contains(got, want) {
		t.Errorf("%+v", status.Results)
	}
}

func noCopy(string) *crdschema.CRD { return nil }

func noVersions(schema.GroupKind) []string { return nil }

// said returns the results with some states: CHECK: TEXT.
func said(s *crdwire.Status, states ...crdwire.State) []string {
	var all []string
	for _, r := range s.Results {
		if slices.Contains(states, r.State) {
			all = append(all, r.Check+": "+r.Text)
		}
	}
	return all
}

func parsed(t *testing.T, text string) *crdwire.CRD {
	t.Helper()
	crds, err := crdwire.Parse([]byte(text))
	if err != nil || len(crds) != 1 {
		t.Fatal(err)
	}
	return crds[0]
}

// schemed is a CRD with schemas.
func schemed(conversion string) string {
	return strings.NewReplacer(`"storage":true}`, `"storage":true,`+emptySchema+`}`, `{"name":"v2","served":true}`, `{"name":"v2","served":true,`+emptySchema+`}`, `{"name":"v3"}`, `{"name":"v3",`+emptySchema+`}`,
		`"kind":"Thing"`, `"kind":"Thing","singular":"thing","listKind":"ThingList"`).Replace(crdJSON(conversion))
}

const emptySchema = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{}}}}}`

// oneVersion is a CRD with v1 alone.
func oneVersion(conversion string) string {
	return strings.Replace(crdJSON(conversion), `,{"name":"v2","served":true},{"name":"v3"}`, "", 1)
}

// injected is a CRD whose caBundle cert-manager fills in.
func injected(metadata, conversion string) string {
	return strings.Replace(crdJSON(conversion), `"metadata":{`, `"metadata":{`+metadata+`"annotations":{"cert-manager.io/inject-ca-from":"ns/webhookd"},`, 1)
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
