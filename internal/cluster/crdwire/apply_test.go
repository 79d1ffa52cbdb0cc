package crdwire_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

const things = "things.example.com"

// crdJSON has three versions, and a spec.conversion.
func crdJSON(conversion string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + things + `"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"conversion":` + conversion + `,
		"versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true},{"name":"v3"}]},
		"status":{"storedVersions":["v1"]}}`
}

const none = `{"strategy":"None"}`

func webhookConversion(config string) string {
	return `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":` + config + `}}`
}

func pointingHere(ca *tlstest.CA) string {
	return webhookConversion(`{"service":{"namespace":"ns","name":"webhookd","path":"/crdconvert","port":443},"caBundle":"` +
		base64.StdEncoding.EncodeToString(ca.PEM) + `"}`)
}

type logged struct{ strings.Builder }

func (l *logged) log(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

func applyOptions(t *testing.T, w *webhook, ca *tlstest.CA, l *logged) crdwire.ApplyOptions {
	t.Helper()
	return crdwire.ApplyOptions{
		Target: service(t, "ns/webhookd"), Bundle: crdwire.Bundle{ca.Cert}, ReviewVersions: []string{"v1"},
		Address: w.address, Timeout: 2 * time.Minute, Now: time.Now, Log: l.log,
	}
}

func bundleOf(t *testing.T, s *clustertest.Server) string {
	t.Helper()
	var crd crdwire.CRD
	if !s.Get(t, crdwire.Path(things), &crd) {
		t.Fatal("no CRD")
	}
	if at, is := crdwire.TargetOf(&crd); !is || at.String() != "Service ns/webhookd" {
		t.Fatalf("points at %s", at)
	}
	return string(crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
}

func TestApplyAsksAsTheAPIServerAsks(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s, l := newWebhook(t, ca), clustertest.New(), &logged{}
	s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
	s.Rules = []clustertest.Rule{{Verb: "get", Path: crdwire.Path(things)}, {Verb: "patch", Path: crdwire.Path(things)}}
	if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l)); err != nil {
		t.Fatal(err)
	}
	want := []string{"webhookd.ns.svc:443 webhookd.ns.svc POST /crdconvert?timeout=30s HTTP/1.1"}
	if diff := cmp.Diff(want, w.requests()); diff != "" {
		t.Error(diff)
	}
	if len(w.seen) != 3*10 {
		t.Errorf("%d reviews, want one to each version ten times", len(w.seen))
	}
	if got := bundleOf(t, s); got != string(ca.PEM) {
		t.Errorf("caBundle %s", got)
	}
	before := len(s.Requests())
	if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l)); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if len(s.Requests()) == before {
		t.Error("nothing was looked at")
	}
}

func TestApplyTakesOnlyFieldsThatNoManagerApplied(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w := newWebhook(t, ca)
	applied := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + things + `"},"spec":{"conversion":%s}}`
	for _, tt := range []struct {
		name    string
		prepare func(*clustertest.Server)
		want    string // "" if it is taken without force
	}{
		{"None that was filled in", func(s *clustertest.Server) { s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none)) }, ""},
		{"None that was applied", func(s *clustertest.Server) {
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			s.Apply(t, crdwire.Path(things), "argocd", fmt.Sprintf(applied, none))
		}, `field manager "argocd" owns spec.conversion.strategy, with another value`},
		{"a bundle of another manager", func(s *clustertest.Server) {
			s.Put(t, crdwire.Path(things), "cainjector", crdJSON(pointingHere(tlstest.NewCA(t, "other"))))
		}, `field manager "cainjector" owns spec.conversion.webhook.clientConfig.caBundle, with another value`},
		{"another Service", func(s *clustertest.Server) {
			s.Put(t, crdwire.Path(things), "kubectl", crdJSON(webhookConversion(`{"service":{"namespace":"ns","name":"other"}}`)))
		}, things + ": converted by Service ns/other already, --force points it at Service ns/webhookd"},
		{"a URL", func(s *clustertest.Server) {
			s.Put(t, crdwire.Path(things), "kubectl", crdJSON(webhookConversion(`{"url":"https://a.example"}`)))
		}, things + ": converted by https://a.example already, --force points it at Service ns/webhookd"},
		{"no CRD", func(*clustertest.Server) {}, things + ": there is no such CRD, install it first"},
		{"no right to read", func(s *clustertest.Server) { s.Rules = []clustertest.Rule{} }, "allow get of customresourcedefinitions.apiextensions.k8s.io with the resourceName " + things},
		{"no right to write", func(s *clustertest.Server) {
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			s.Rules = []clustertest.Rule{{Verb: "get", Path: crdwire.Path(things)}}
		}, "allow patch of customresourcedefinitions.apiextensions.k8s.io with the resourceName " + things},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, l := clustertest.New(), &logged{}
			tt.prepare(s)
			o := applyOptions(t, w, ca, l)
			err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, o)
			switch {
			case tt.want == "" && err != nil:
				t.Fatal(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Fatalf("error %v, want %s", err, tt.want)
			case err != nil && !strings.Contains(tt.want, "force") && !strings.Contains(err.Error(), "--force"):
				return
			}
			o.Force = true
			if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, o); err != nil {
				t.Errorf("by force: %v", err)
			}
			bundleOf(t, s)
		})
	}
}

func TestApplyWaitsForGoodAnswers(t *testing.T) {
	t.Parallel()
	fail := func(message string) func(string, map[string]any) int {
		return func(_ string, response map[string]any) int {
			response["result"] = map[string]any{"status": "Failure", "message": message}
			return 200
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(string, map[string]any) int
		want   string
	}{
		{"the kind is not known", fail("no converter for Thing.example.com"), "review failed: no converter for Thing.example.com"},
		{"one version is not known", func(desired string, response map[string]any) int {
			if desired == "example.com/v3" {
				return fail("no version v3")(desired, response)
			}
			return 200
		}, "Service ns/webhookd, asked for Thing.example.com v1, v2 -> v3: review failed: no version v3"},
		{"another review", func(_ string, response map[string]any) int { response["uid"] = "x"; return 200 }, "answer to another review"},
		{"too few objects", func(_ string, response map[string]any) int { response["convertedObjects"] = nil; return 200 }, "answer has 0 objects, not 2"},
		{"HTTP 404", func(string, map[string]any) int { return 404 }, "answer is HTTP 404, not 200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calling(t, func(t *testing.T, w *webhook) {
				ca, s := tlstest.NewCA(t, "a"), clustertest.New()
				s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
				w.serve(t, ca)
				w.answerWith(tt.answer)
				err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, &logged{}))
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "no CRD was changed: ") {
					t.Fatalf("error %v, want %s", err, tt.want)
				}
				if slices.Contains(s.Requests(), "patch "+crdwire.Path(things)) {
					t.Error("changed all the same")
				}
			})
		})
	}
	t.Run("until they are good", func(t *testing.T) {
		t.Parallel()
		calling(t, func(t *testing.T, w *webhook) {
			ca, s, l := tlstest.NewCA(t, "a"), clustertest.New(), &logged{}
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			w.serve(t, ca)
			left := 2
			w.answerWith(func(desired string, response map[string]any) int {
				if left--; left >= 0 {
					return fail("not yet")(desired, response)
				}
				return 200
			})
			if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l)); err != nil {
				t.Fatal(err)
			}
			if strings.Count(l.String(), "not yet") != 1 {
				t.Errorf("the same is said again and again, or not at all:\n%s", l.String())
			}
		})
	})
	t.Run("from another CA", func(t *testing.T) {
		t.Parallel()
		calling(t, func(t *testing.T, w *webhook) {
			ca, s := tlstest.NewCA(t, "a"), clustertest.New()
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			w.serve(t, tlstest.NewCA(t, "b"))
			err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, &logged{}))
			if err == nil || !strings.Contains(err.Error(), "served certificate is not from a CA of the bundle") {
				t.Errorf("%v", err)
			}
		})
	})
}

// Another client changes the CRD between reading and writing: it is read again, and if it points
// elsewhere by then, left alone.
func TestApplyDoesNotOverwriteWhatItHasNotSeen(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	for name, now := range map[string]string{
		"another field": strings.Replace(crdJSON(none), `"scope"`, `"preserveUnknownFields":false,"scope"`, 1),
		"elsewhere":     crdJSON(webhookConversion(`{"service":{"namespace":"ns","name":"other"}}`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, l := newWebhook(t, ca), clustertest.New(), &logged{}
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			changed := make(chan struct{}, 1)
			w.answerWith(func(string, map[string]any) int { // after the CRD was read
				if len(changed) == 0 {
					changed <- struct{}{}
					s.Put(t, crdwire.Path(things), "kubectl", now)
				}
				return 200
			})
			err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l))
			if name == "elsewhere" {
				if err == nil || !strings.Contains(err.Error(), "converted by Service ns/other already") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			bundleOf(t, s)
		})
	}
}

func TestApplyKeepsTheOldCAForADay(t *testing.T) {
	t.Parallel()
	old, young := tlstest.NewCA(t, "old"), tlstest.NewCA(t, "young")
	both, alone := string(young.PEM)+string(old.PEM), string(young.PEM)
	for _, tt := range []struct {
		name   string
		serves *tlstest.CA
		age    time.Duration // of both in the bundle
		want   string
	}{
		{"the old one is served", old, 0, both},
		{"the old one is served for two days", old, 48 * time.Hour, both},
		{"the new one is served, not for long", young, 23 * time.Hour, both},
		{"the new one is served, and has been there for a day", young, 25 * time.Hour, alone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, s, l := newWebhook(t, old), clustertest.New(), &logged{}
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			apply := func(ca *tlstest.CA) string {
				t.Helper()
				if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l)); err != nil {
					t.Fatal(err)
				}
				return bundleOf(t, s)
			}
			apply(old)
			s.Age(t, crdwire.Path(things), 72*time.Hour) // that counts from the change
			if got := apply(young); got != both {
				t.Fatalf("replaced at once: %s", got)
			}
			s.Age(t, crdwire.Path(things), tt.age)
			w.serve(t, tt.serves)
			if got := apply(young); got != tt.want {
				t.Errorf("%d CAs", strings.Count(got, "BEGIN"))
			}
		})
	}
}

// The API server passes over what it cannot read of a caBundle, and trusts the rest; so that has to
// stay as well.
func TestApplyKeepsTheOldCANextToGarbage(t *testing.T) {
	t.Parallel()
	old, young := tlstest.NewCA(t, "old"), tlstest.NewCA(t, "young")
	w, s := newWebhook(t, old), clustertest.New()
	garbage := "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	bundle := base64.StdEncoding.EncodeToString([]byte(garbage + string(old.PEM)))
	s.Put(t, crdwire.Path(things), "kubectl", crdJSON(webhookConversion(
		`{"service":{"namespace":"ns","name":"webhookd","path":"/crdconvert","port":443},"caBundle":"`+bundle+`"}`)))
	o := applyOptions(t, w, young, &logged{})
	o.Force = true
	if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, o); err != nil {
		t.Fatal(err)
	}
	if got := bundleOf(t, s); got != string(young.PEM)+string(old.PEM) {
		t.Errorf("%d CAs", strings.Count(got, "BEGIN"))
	}
}
