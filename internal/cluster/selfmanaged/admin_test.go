package selfmanaged

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

// ownedBundle returns a CRD with the caBundle that it has now, spelled in another way, as someone
// has copied it into a file.
func ownedBundle(t *testing.T, s *clustertest.Server) string {
	t.Helper()
	var crd crdwire.CRD
	s.Get(t, crdwire.Path(crdName), &crd)
	bundle := base64.StdEncoding.EncodeToString(append([]byte("# copied\n"), crd.Spec.Conversion.Webhook.ClientConfig.CABundle...))
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},
		"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":%q}}}}}`, crdName, bundle)
}

// An admin does what the command prints when another manager owns caBundle. At each moment the CRD
// trusts the certificate that is served, so reads go on, and at the end the CA is another one.
func TestAnAdminFollowsTheRemedy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		owns  func(t *testing.T, s *clustertest.Server)
		says  []string // in the order of what the admin does
		gives func(t *testing.T, s *clustertest.Server)
		force bool
	}{
		"of a manager with server-side apply": {
			owns: func(t *testing.T, s *clustertest.Server) {
				t.Helper()
				s.Apply(t, crdwire.Path(crdName), "flux", ownedBundle(t, s))
			},
			says: []string{"webhookd-certs owns the present caBundle as well now", "take caBundle out of what that manager applies", "run this again"},
			gives: func(t *testing.T, s *clustertest.Server) {
				t.Helper()
				s.Apply(t, crdwire.Path(crdName), "flux", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+crdName+`"}}`)
			},
		},
		"of a manager with client-side apply": {
			owns: func(t *testing.T, s *clustertest.Server) {
				t.Helper()
				s.Put(t, crdwire.Path(crdName), "kubectl-client-side-apply", withBundle(t, s))
			},
			says:  []string{"a client-side apply deletes what leaves its file", "take caBundle out of the file", "kubectl apply set-last-applied", "--force"},
			gives: func(*testing.T, *clustertest.Server) {}, // set-last-applied changes an annotation
			force: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
			c, l := &clock{now: time.Now()}, &logged{}
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			first := string(verify(t, s, c.Now()).Data[certKey])
			test.owns(t, s)
			verify(t, s, c.Now())

			o := options(c, l)
			o.Rotate = true
			err := Ensure(t.Context(), s.Client(t), o)
			if err == nil {
				t.Fatal("the field was taken without a word")
			}
			verify(t, s, c.Now())
			at := 0
			for _, words := range test.says {
				i := strings.Index(err.Error()[at:], words)
				if i < 0 {
					t.Fatalf("it does not say %q: %v", words, err)
				}
				at += i
			}

			test.gives(t, s)
			verify(t, s, c.Now())
			for range 4 {
				o := options(c, l)
				o.Force = test.force
				if err := Ensure(t.Context(), s.Client(t), o); err != nil {
					t.Fatal(err)
				}
				verify(t, s, c.Now())
				c.pass(2 * time.Hour)
			}
			if last := string(verify(t, s, c.Now()).Data[certKey]); last == first {
				t.Error("the CA was not replaced")
			}
		})
	}
}

// withBundle returns the whole CRD with its caBundle spelled in another way.
func withBundle(t *testing.T, s *clustertest.Server) string {
	t.Helper()
	var crd crdwire.CRD
	s.Get(t, crdwire.Path(crdName), &crd)
	bundle := base64.StdEncoding.EncodeToString(append([]byte("# copied\n"), crd.Spec.Conversion.Webhook.ClientConfig.CABundle...))
	text := strings.Replace(wiredCRD("webhookd"), `"clientConfig":{`, `"clientConfig":{"caBundle":"`+bundle+`",`, 1)
	if !strings.Contains(text, bundle) {
		t.Fatal("the CRD of the tests has no clientConfig to put it into")
	}
	return text
}

// A short delay is for tests, and says so.
func TestAShortStepDelayWarns(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	c, l := &clock{now: time.Now()}, &logged{}
	for delay, warns := range map[time.Duration]bool{time.Minute: true, safeStepDelay: false} {
		o := options(c, l)
		o.Policy.StepDelay = delay
		l.text.Reset()
		if err := Ensure(t.Context(), s.Client(t), o); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(l.text.String(), "for tests only") != warns {
			t.Errorf("%s: %s", delay, &l.text)
		}
	}
}
