package selfmanaged

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

const (
	leafPath = "/api/v1/namespaces/ns/secrets/tls"
	caPath   = leafPath + CASuffix
	crdName  = "crontabs.example.com"
)

// wiredCRD points at the Service ns/webhookd.
func wiredCRD(service string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + crdName + `"},
		"spec":{"group":"example.com","conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
		"clientConfig":{"service":{"namespace":"ns","name":"` + service + `","path":"/crdconvert","port":443}}}}}}`
}

// A clock that moves only when the test moves it. Safe for concurrent use.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logged gathers what a run says. Safe for concurrent use.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) log(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.text, format+"\n", args...)
}

func options(c *clock, l *logged) Options {
	service, _ := crdwire.ParseService("ns/webhookd")
	p := policy()
	p.Name = ""
	return Options{Namespace: "ns", Secret: "tls", Service: service, CRDs: []string{crdName}, Policy: p, Now: c.Now, Log: l.log}
}

// verify holds the served leaf against the CRD.
func verify(t *testing.T, s *clustertest.Server, now time.Time) *secret {
	t.Helper()
	var leaf secret
	if !s.Get(t, leafPath, &leaf) {
		t.Fatal("no Secret")
	}
	pair, err := tls.X509KeyPair(leaf.Data[certKey], leaf.Data[keyKey])
	if err != nil {
		t.Fatal(err)
	}
	var crd crdwire.CRD
	if s.Get(t, crdwire.Path(crdName), &crd) {
		if err := crdwire.BundleOf(&crd).Verifies(crdwire.Bundle{pair.Leaf}, "webhookd.ns.svc", now); err != nil {
			t.Fatalf("at %s: %v", now, err)
		}
	}
	return &leaf
}

func TestFirstRun(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*clustertest.Server){
		"nothing is there": func(*clustertest.Server) {},
		"empty Secrets are there": func(s *clustertest.Server) {
			for _, path := range []string{leafPath, caPath} {
				s.Put(t, path, "helm", `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"ns","name":"`+path[strings.LastIndex(path, "/")+1:]+`"},"type":"Opaque"}`)
			}
			s.Rules = []clustertest.Rule{
				{Verb: "get", Path: leafPath},
				{Verb: "patch", Path: leafPath},
				{Verb: "get", Path: caPath},
				{Verb: "patch", Path: caPath},
				{Verb: "get", Path: crdwire.Path(crdName)},
				{Verb: "patch", Path: crdwire.Path(crdName)},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
			prepare(s)
			c, l := &clock{now: time.Now()}, &logged{}
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			leaf := verify(t, s, c.Now())
			if leaf.Data["ca.crt"] == nil {
				t.Error("no ca.crt")
			}
			if slices.ContainsFunc(s.Requests(), func(r string) bool { return strings.HasPrefix(r, "list ") }) {
				t.Errorf("lists: %q", s.Requests())
			}
			before := len(s.Requests())
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			for _, request := range s.Requests()[before:] {
				if !strings.HasPrefix(request, "get ") {
					t.Errorf("a second run changes something: %s", request)
				}
			}
		})
	}
}

func TestCRDsThatPointElsewhereAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("other"))
	c, l := &clock{now: time.Now()}, &logged{}
	o := options(c, l)
	o.CRDs = append(o.CRDs, "missing.example.com")
	if err := Ensure(t.Context(), s.Client(t), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"left alone, it does not point at Service ns/webhookd: " + crdName, "no such CRD yet: missing.example.com"} {
		if strings.Count(l.text.String(), want) != 1 {
			t.Errorf("not said once: %s:\n%s", want, l.text.String())
		}
	}
	if slices.Contains(s.Requests(), "patch "+crdwire.Path(crdName)) {
		t.Error("changed")
	}
}

func TestOnlyCABundleIsSet(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
	var before, after crdwire.CRD
	s.Get(t, crdwire.Path(crdName), &before)
	c, l := &clock{now: time.Now()}, &logged{}
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
		t.Fatal(err)
	}
	s.Get(t, crdwire.Path(crdName), &after)
	after.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	if fmt.Sprint(before.Spec) != fmt.Sprint(after.Spec) {
		t.Errorf("%v\n%v", before.Spec, after.Spec)
	}
	owned := ""
	for _, entry := range after.ManagedFields {
		if entry.Manager == crdwire.ManagerCerts {
			owned = strings.ReplaceAll(string(entry.FieldsV1.GetRawBytes()), `".":{},`, "")
		}
	}
	if want := `{"f:spec":{"f:conversion":{"f:webhook":{"f:clientConfig":{"f:caBundle":{}}}}}}`; owned != want {
		t.Errorf("owned %s", owned)
	}
}

func TestACABundleOfAnotherManagerIsReported(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
	s.Apply(t, crdwire.Path(crdName), "argocd", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+crdName+`"},
		"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"Cg=="}}}}}`)
	c, l := &clock{now: time.Now()}, &logged{}
	err := Ensure(t.Context(), s.Client(t), options(c, l))
	want := crdName + `: field manager "argocd" owns spec.conversion.webhook.clientConfig.caBundle, with another value`
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "\ntake caBundle out of what that manager applies") {
		t.Errorf("%v", err)
	}
	var leaf secret
	if !s.Get(t, leafPath, &leaf) {
		t.Error("it keeps the first leaf from being made")
	}
}

func TestForbiddenSaysWhatToAllow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rules []clustertest.Rule
		want  string
	}{
		"get of a CRD":    {[]clustertest.Rule{}, "allow get of customresourcedefinitions.apiextensions.k8s.io with the resourceName " + crdName},
		"get of a Secret": {[]clustertest.Rule{{Verb: "get", Path: crdwire.Path(crdName)}}, "allow get of secrets with the resourceName tls, in a Role of the namespace ns"},
		"create": {
			[]clustertest.Rule{{Verb: "get", Path: crdwire.Path(crdName)}, {Verb: "get", Path: leafPath}, {Verb: "get", Path: caPath}},
			"\nallow create of secrets, in a Role of the namespace ns, or make an empty Secret tls-ca of type Opaque there, and allow patch of it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Rules = tt.rules
			c, l := &clock{now: time.Now()}, &logged{}
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestASecretOfCertManagerIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, leafPath, "cert-manager", `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"ns","name":"tls","annotations":{"cert-manager.io/certificate-name":"webhookd"}}}`)
	c, l := &clock{now: time.Now()}, &logged{}
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err == nil || !strings.Contains(err.Error(), "cert-manager manages this Secret") {
		t.Errorf("%v", err)
	}
}

// TestRunsAtOnce lets runs race for months, and lets any request fail; whatever a run has left, the
// law holds, and with one good run at the end all is done.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
	c, l := &clock{now: time.Now()}, &logged{}
	api := s.Client(t)
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // the same each time
	if err := Ensure(t.Context(), api, options(c, l)); err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for range 90 { // runs, of two each
		fail := random.IntN(30)
		s.Before = func(string, string) *apierrors.StatusError { // one at a time
			if fail--; fail == 0 {
				return apierrors.NewBadRequest("interrupted")
			}
			return nil
		}
		var wait sync.WaitGroup
		for range 2 {
			rotate := random.IntN(15) == 0
			wait.Go(func() {
				o := options(c, l)
				o.Rotate = rotate
				_ = Ensure(t.Context(), api, o) // it may be interrupted
			})
		}
		wait.Wait()
		leaf := verify(t, s, c.Now())
		served[string(leaf.Data[certKey])] = true
		c.pass(time.Duration(random.Int64N(int64(48 * time.Hour))))
	}
	s.Before = nil
	if err := Ensure(t.Context(), api, options(c, l)); err != nil {
		t.Fatal(err)
	}
	verify(t, s, c.Now())
	if len(served) < 8 || !strings.Contains(l.text.String(), "the next CA is the present one") {
		t.Errorf("%d leaves, too little was done", len(served))
	}
}

// severalCRDs stores CRDs that point at the Service, and returns their names.
func severalCRDs(t *testing.T, s *clustertest.Server, n int) []string {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("kind%03d.example.com", i)
		s.Put(t, crdwire.Path(names[i]), "kubectl", strings.Replace(wiredCRD("webhookd"), crdName, names[i], 1))
	}
	return names
}

// trusts reports whether a CRD has a caBundle.
func trusts(t *testing.T, s *clustertest.Server, name string) bool {
	t.Helper()
	var crd crdwire.CRD
	s.Get(t, crdwire.Path(name), &crd)
	return len(crdwire.BundleOf(&crd)) > 0
}

// A client that works against one CRD keeps neither the others from what they need, nor the leaf
// from being made.
func TestAStuckCRDDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	changes := "kind000.example.com: another client keeps changing this CRD, see its managedFields; until that ends the CA is not replaced"
	for name, tt := range map[string]struct {
		refuse  *apierrors.StatusError // of each change
		replace bool                   // by an object without a caBundle, after each change
		want    string
	}{
		"it is always another one": {
			refuse: apierrors.NewConflict(schema.GroupResource{Resource: "customresourcedefinitions"}, "kind000.example.com", errors.New("modified")), want: changes,
		},
		"a client replaces it":  {replace: true, want: changes},
		"it cannot be changed":  {refuse: apierrors.NewBadRequest("not this one"), want: "cannot patch: not this one"},
		"it may not be changed": {refuse: apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no")), want: "cannot patch: forbidden: no (403)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, l := clustertest.New(), &clock{now: time.Now()}, &logged{}
			o := options(c, l)
			o.CRDs = severalCRDs(t, s, 3)
			path := crdwire.Path(o.CRDs[0])
			s.Before = func(verb, at string) *apierrors.StatusError {
				if verb == "patch" && at == path {
					return tt.refuse
				}
				return nil
			}
			o.Log = func(format string, args ...any) {
				l.log(format, args...)
				if tt.replace && strings.HasPrefix(fmt.Sprintf(format, args...), "CRD "+o.CRDs[0]+": set caBundle") {
					s.Put(t, path, "kubectl", strings.Replace(wiredCRD("webhookd"), crdName, o.CRDs[0], 1))
				}
			}
			err := Ensure(t.Context(), s.Client(t), o)
			if err == nil || strings.Count(err.Error(), tt.want) != 1 {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if trusts(t, s, o.CRDs[0]) || !trusts(t, s, o.CRDs[1]) || !trusts(t, s, o.CRDs[2]) {
				t.Errorf("the others are not set:\n%s", l.text.String())
			}
			verify(t, s, c.Now())
		})
	}
}

// A run has as many steps as there are CRDs.
func TestManyCRDs(t *testing.T) {
	t.Parallel()
	s, c, l := clustertest.New(), &clock{now: time.Now()}, &logged{}
	o := options(c, l)
	o.CRDs = severalCRDs(t, s, maxSteps+1)
	if err := Ensure(t.Context(), s.Client(t), o); err != nil {
		t.Fatal(err)
	}
	verify(t, s, c.Now())
}

// A CRD that may not be read is said, and keeps neither another one from its CA, nor a leaf from
// being renewed. Only the first leaf is not made: the CRD may trust what something else serves.
func TestAForbiddenCRDDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	s, c, l := clustertest.New(), &clock{now: time.Now()}, &logged{}
	o := options(c, l)
	o.CRDs = severalCRDs(t, s, 3)
	forbid := func() {
		s.Before = func(verb, at string) *apierrors.StatusError {
			if at == crdwire.Path(o.CRDs[0]) {
				return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
			}
			return nil
		}
	}
	ensure := func() {
		t.Helper()
		want := crdwire.Path(o.CRDs[0]) + ": cannot get: forbidden: no (403)"
		if err := Ensure(t.Context(), s.Client(t), o); err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	forbid()
	ensure()
	var first, second secret
	if s.Get(t, leafPath, &first); first.Data[certKey] != nil {
		t.Error("a leaf that a CRD may not trust")
	}
	if !trusts(t, s, o.CRDs[1]) || !trusts(t, s, o.CRDs[2]) {
		t.Errorf("the others are not set:\n%s", l.text.String())
	}
	s.Before = nil
	if err := Ensure(t.Context(), s.Client(t), o); err != nil {
		t.Fatal(err)
	}
	first = *verify(t, s, c.Now())
	forbid()
	c.pass(o.Policy.LeafValidity - o.Policy.RenewBefore + time.Hour)
	ensure()
	if second = *verify(t, s, c.Now()); bytes.Equal(second.Data[certKey], first.Data[certKey]) {
		t.Error("the leaf is not renewed")
	}
}
