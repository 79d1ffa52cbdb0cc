package controlplane_test

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// makeCertManagerKinds makes cert-manager's CRDs, those that it ships.
func makeCertManagerKinds(t *testing.T, p *plane.Plane) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "deploy", "crds")
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	for _, kind := range []string{"certificates", "issuers"} {
		kubectl.Run(t, "create", "-f", filepath.Join(dir, "cert-manager.io_"+kind+".yaml"))
		established(t, kubectl, kind+".cert-manager.io")
	}
}

// An authority issues leaves in the place of cert-manager's issuer.
type authority struct {
	key  crypto.Signer
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	return (&authority{key: tlstest.NewKey(t)}).renewed(t)
}

// renewed is the authority with another certificate for the same key, as a Certificate with
// rotationPolicy Never gets it.
func (a *authority) renewed(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "webhookd CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	return &authority{a.key, sign(t, template, template, a.key.Public(), a.key)}
}

func sign(t *testing.T, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// issue puts a leaf into the Secret of the chart's Certificate, as cert-manager does, and returns
// it.
func (i *installation) issue(t *testing.T, a *authority) *x509.Certificate {
	t.Helper()
	return i.putPair(t, "webhookd-cert", map[string]string{
		"cert-manager.io/certificate-name": "webhookd", "cert-manager.io/allow-direct-injection": "true",
	}, a)
}

// putPair puts a leaf for the chart's Service into a Secret, and returns it.
func (i *installation) putPair(t *testing.T, name string, annotations map[string]string, a *authority) *x509.Certificate {
	t.Helper()
	key := tlstest.NewKey(t)
	host := "webhookd." + i.namespace + ".svc"
	leaf := sign(t, &x509.Certificate{
		DNSNames: []string{host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.cert, key.Public(), a.key)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	secret := corev1apply.Secret(name, i.namespace).WithAnnotations(annotations).WithType(corev1.SecretTypeTLS).WithData(map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		"ca.crt":  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}),
	})
	if _, err := i.plane.Kube(t).CoreV1().Secrets(i.namespace).Apply(t.Context(), secret, metav1.ApplyOptions{FieldManager: "issuer"}); err != nil {
		t.Fatal(err)
	}
	return leaf
}
