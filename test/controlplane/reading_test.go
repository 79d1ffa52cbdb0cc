package controlplane_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// A reading goes on all the time until it is ended: an object at both versions, and, since the API
// server keeps connections that were verified long ago, a new connection each time that has to be
// verified by what the CRD trusts.
type reading struct {
	i      *installation
	cancel context.CancelFunc
	wg     sync.WaitGroup
	rounds atomic.Int64

	mu       sync.Mutex
	failures []string
}

// startReading begins to read the object "first".
func (i *installation) startReading(t *testing.T) *reading {
	t.Helper()
	client, err := dynamic.NewForConfig(i.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &reading{i: i, cancel: cancel}
	connect := i.connector(t)
	r.wg.Go(func() {
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			version := []string{"v1beta1", "v1"}[n%2]
			objects := client.Resource(schema.GroupVersionResource{Group: i.group(), Version: version, Resource: "crontabs"}).Namespace("default")
			_, err := objects.Get(ctx, "first", metav1.GetOptions{})
			r.note(ctx, "read at "+version, err)
			_, err = connect(ctx)
			r.note(ctx, "connect", err)
			r.rounds.Add(1)
		}
	})
	t.Cleanup(func() { cancel(); r.wg.Wait() })
	r.lap(t)
	return r
}

func (r *reading) note(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf("round %d: %s: %v", r.rounds.Load(), what, err))
}

// lap waits for a number of rounds that begin now.
func (r *reading) lap(t *testing.T) {
	t.Helper()
	want := r.rounds.Load() + 50
	scenario.Eventually(t, "a lap of reading", func() bool { return r.rounds.Load() >= want })
}

// end ends it and fails the test if anything failed.
func (r *reading) end(t *testing.T) {
	t.Helper()
	r.cancel()
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.failures); n > 0 {
		t.Errorf("%d failures in %d rounds, such as\n%s", n, r.rounds.Load(), strings.Join(r.failures[:min(n, 5)], "\n"))
	}
}

// connector returns a function that makes a connection over the Service as the API server does,
// trusting what the CRD says, and returns the leaf that is served.
func (i *installation) connector(t *testing.T) func(context.Context) (*x509.Certificate, error) {
	t.Helper()
	crds, err := apiextensionsclient.NewForConfig(i.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	service, err := i.plane.Kube(t).CoreV1().Services(i.namespace).Get(t.Context(), "webhookd", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(service.Spec.ClusterIP, "443")
	return func(ctx context.Context) (*x509.Certificate, error) {
		crd, err := crds.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, i.crd(), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
		dialer := &tls.Dialer{Config: &tls.Config{ServerName: "webhookd." + i.namespace + ".svc", RootCAs: roots}}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
	}
}

// served returns the leaf that is served.
func (i *installation) served(t *testing.T) *x509.Certificate {
	t.Helper()
	leaf, err := i.connector(t)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// bundle returns the CAs that the CRD trusts.
func (i *installation) bundle(t *testing.T) crdwire.Bundle {
	t.Helper()
	crds, err := apiextensionsclient.NewForConfig(i.plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	crd, err := crds.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), i.crd(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := crdwire.ParseBundle(crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}
