package plane

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	helper "github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"k8s.io/client-go/kubernetes"
)

// serviceRange is where the addresses of Services come from.
const serviceRange = "127.1.2.0/24"

// caFile is the certificate that the API server makes for itself, and so whom its clients trust.
func (p *Plane) caFile() string { return filepath.Join(p.dir, "certs", "apiserver.crt") }

// prepareAPIServer chooses the port, which a restart keeps, and writes the files that it reads.
func (p *Plane) prepareAPIServer(t *testing.T) {
	t.Helper()
	p.secure = freePort(t)
	var tokens strings.Builder
	fmt.Fprintf(&tokens, "%s,%s,%s,system:masters\n", p.tokens[Admin], Admin, Admin)
	fmt.Fprintf(&tokens, "%s,%s,%s\n", p.tokens[NoRights], NoRights, NoRights)
	p.write(t, "tokens.csv", []byte(tokens.String()))

	key := tlstest.NewKey(t)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "sa.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	p.write(t, "sa.pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

// startAPIServer has all of the server's defaults, among them RBAC's companions PodSecurity and
// priority-and-fairness, but for the plugin that adds a token to each pod: no pod ever runs.
func (p *Plane) startAPIServer(t *testing.T) {
	t.Helper()
	_, port, err := net.SplitHostPort(p.secure)
	if err != nil {
		t.Fatal(err)
	}
	p.apiServer = p.launch(t, "kube-apiserver", p.bin.APIServer,
		"--etcd-servers=http://"+p.etcd, "--cert-dir=certs", "--secure-port="+port,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range="+serviceRange, "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=sa.pub", "--service-account-signing-key-file=sa.key",
		"--token-auth-file=tokens.csv", "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount")
	p.apiServer.await(t, p.ready)
}

func (p *Plane) ready() error {
	client, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		return err // the certificate is not there yet
	}
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// Metrics are those of the API server.
func (p *Plane) Metrics(t *testing.T) helper.Metrics {
	t.Helper()
	text, err := p.Kube(t).CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return helper.ParseMetrics(string(text))
}
