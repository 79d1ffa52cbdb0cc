package selfmanaged

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/kubeapi/kubeapitest"
)

// put changes keys of a Secret by hand.
func put(t *testing.T, s *kubeapitest.Server, path string, data map[string][]byte) {
	t.Helper()
	var now secret
	s.Get(t, path, &now)
	if now.Data == nil {
		now.Data = map[string][]byte{}
	}
	for key, value := range data {
		now.Data[key] = value
	}
	var members []string
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

// A leaf that a server could not load is no leaf, whatever kind of key is beside it: a replica that starts has nothing else.
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
			s := kubeapitest.New(t)
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
