package selfmanaged

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

// put changes keys of a Secret by hand.
func put(t *testing.T, s *clustertest.Server, path string, data map[string][]byte) {
	t.Helper()
	var now secret
	s.Get(t, path, &now)
	if now.Data == nil {
		now.Data = map[string][]byte{}
	}
	maps.Copy(now.Data, data)
	members := make([]string, 0, len(now.Data))
	for key, value := range now.Data {
		members = append(members, `"`+key+`":"`+base64.StdEncoding.EncodeToString(value)+`"`)
	}
	name := path[strings.LastIndex(path, "/")+1:]
	s.Put(t, path, "kubectl", `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"ns","name":"`+name+`"},"data":{`+strings.Join(members, ",")+`}}`)
}

func pemKey(t *testing.T, key any) []byte {
	t.Helper()
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))(t)})
}

// A leaf that a server could not load does not count, whatever kind of key is next to it: a replica
// that starts has nothing else.
func TestALeafWhoseKeyIsNotItsOwnIsReplaced(t *testing.T) {
	t.Parallel()
	for name, key := range map[string][]byte{
		"no key":                nil,
		"garbage":               []byte("garbage"),
		"garbage in PEM":        pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("garbage")}),
		"the key of another":    pemKey(t, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)),
		"a key of another kind": pemKey(t, must(rsa.GenerateKey(rand.Reader, 2048))(t)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
			c, l := &clock{now: time.Now()}, &logged{}
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			put(t, s, leafPath, map[string][]byte{keyKey: key})
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			verify(t, s, c.Now())
		})
	}
}

// A CA of ours that cannot vouch for the name any more, since the Service has another one, is
// replaced.
func TestACAForAnotherNameIsReplaced(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	c, l := &clock{now: time.Now()}, &logged{}
	o := options(c, l)
	o.Service = must(crdwire.ParseService("ns/before"))(t)
	if err := Ensure(t.Context(), s.Client(t), o); err != nil {
		t.Fatal(err)
	}
	s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
		t.Fatal(err)
	}
	verify(t, s, c.Now())
}

// A pair that a clock that was ahead has made is valid one day, and not trusted until then.
func TestACertificateOfTheFutureIsReplaced(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"all of it": 90 * day, "less than clocks may differ": 30 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd"))
			c, l := &clock{now: time.Now().Add(ahead)}, &logged{}
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			before := verify(t, s, c.Now())
			c.pass(-ahead)
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
				t.Fatal(err)
			}
			after := verify(t, s, c.Now())
			if same := bytes.Equal(before.Data[certKey], after.Data[certKey]); same != (ahead < backdate) {
				t.Errorf("the leaf is the same: %t", same)
			}
		})
	}
}

// A Secret with a foreign CA that cannot issue, or a foreign leaf for other names, is not ours.
func TestForeignSecretsAreLeftAlone(t *testing.T) {
	t.Parallel()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop.example.com"}, DNSNames: []string{"shop.example.com"},
		NotBefore: time.Now().Add(-day), NotAfter: time.Now().Add(30 * day), BasicConstraintsValid: true, IsCA: true,
	}
	theirs := must(sign(template, template, key, key))(t)
	other := pemKey(t, must(rsa.GenerateKey(rand.Reader, 2048))(t))
	template.KeyUsage = x509.KeyUsageDigitalSignature
	cannotSign := must(sign(template, template, key, key))(t)
	for _, tt := range []struct {
		name, path string
		data       map[string][]byte
		want       string
	}{
		{
			"a leaf", leafPath,
			map[string][]byte{certKey: theirs.certPEM(), keyKey: pemKey(t, key)},
			"ns/tls: its certificate is not for webhookd.ns.svc, and not one of certs ensure: name another Secret, or delete this one",
		},
		{
			"a CA with another key", caPath,
			map[string][]byte{certKey: theirs.certPEM(), keyKey: other},
			"ns/tls-ca: certs ensure did not make this CA, and cannot issue with it (",
		},
		{
			"a CA that may not sign", caPath,
			map[string][]byte{certKey: cannotSign.certPEM(), keyKey: pemKey(t, key)},
			"): name another Secret, or delete this one",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := clustertest.New()
			put(t, s, tt.path, tt.data)
			c, l := &clock{now: time.Now()}, &logged{}
			if err := Ensure(t.Context(), s.Client(t), options(c, l)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			for _, request := range s.Requests() {
				if !strings.HasPrefix(request, "get ") {
					t.Errorf("changed all the same: %s", request)
				}
			}
		})
	}
}

// Where the CRD trusts a CA that is not here, another certificate is served, such as that of
// another tls.mode of the chart. If the CRD cannot be made to trust ours as well, ours must not be
// there for the next replica that starts.
func TestNoFirstLeafThatACRDWouldNotTrust(t *testing.T) {
	t.Parallel()
	s := clustertest.New()
	s.Put(t, crdwire.Path(crdName), "helm", wiredCRD("webhookd"))
	theirs := caAt(t, time.Now())
	s.Apply(t, crdwire.Path(crdName), "kubectl", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+crdName+`"},
		"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"`+base64.StdEncoding.EncodeToString(theirs.certPEM())+`"}}}}}`)
	c, l := &clock{now: time.Now()}, &logged{}
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err == nil || !strings.Contains(err.Error(), `field manager "kubectl" owns`) {
		t.Errorf("%v", err)
	}
	if s.Get(t, leafPath, &secret{}) {
		t.Error("there is a leaf")
	}
	if want := "no leaf until the CRDs trust its CA"; !strings.Contains(l.text.String(), want) {
		t.Errorf("not said: %s:\n%s", want, l.text.String())
	}
	s.Put(t, crdwire.Path(crdName), "kubectl", wiredCRD("webhookd")) // takes caBundle out
	if err := Ensure(t.Context(), s.Client(t), options(c, l)); err != nil {
		t.Fatal(err)
	}
	verify(t, s, c.Now())
}
