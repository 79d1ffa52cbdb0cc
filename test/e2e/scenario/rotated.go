package scenario

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// Rotated replaces webhookd's certificate under load, and then the CA in the order that fails no
// call: the bundle of the CRD has both CAs before the first certificate of the new one is served,
// and the old one leaves it afterwards. No call may fail.
func Rotated(t *testing.T, e *Env) {
	t.Helper()
	replicas := e.Replicas(t, 1, webhook.Options{Flags: []string{"--drain-delay", drainDelay}})
	r := e.Install(t, CRD(t, "crontabs.example.com"), replicas)
	p := populate(t, r, 10)
	was := p.snapshot(t)
	rot := &rotation{e: e, r: r, l: startLoad(t, r, p), replicas: replicas}

	old := replicas.CA()
	rot.serve(t, old)
	for round := range 2 {
		next := tlstest.NewCA(t, fmt.Sprint("webhookd's next CA ", round))
		rot.trust(t, old, next)
		rot.serve(t, next)
		rot.trust(t, next)
		rot.serve(t, next)
		old = next
	}
	rot.end(t)
	rot.l.intact(t)
	p.unharmed(t, was)
}

// A rotation is of certificates under load.
type rotation struct {
	e        *Env
	r        *Resource
	l        *load
	replicas *Replicas // one at a time
	ended    []*webhook.Process
}

// trust sets the CRD's bundle, and waits for the calls that began with another.
func (rot *rotation) trust(t *testing.T, cas ...*tlstest.CA) {
	t.Helper()
	var bundle bytes.Buffer
	for _, ca := range cas {
		bundle.Write(ca.PEM)
	}
	rot.e.UpdateCRD(t, rot.r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.CABundle = bundle.Bytes()
	})
	rot.l.lap(2)
}

// serve gives webhookd a certificate of ca while it runs, and then makes the API server see it: as
// connections keep the certificate that they were made with, those that there are end, by a move to
// a replica that took the new certificate as well.
func (rot *rotation) serve(t *testing.T, ca *tlstest.CA) {
	t.Helper()
	hosts := rot.e.Options(t).Hosts
	old := rot.replicas.Processes[0]
	next := webhook.Start(t, webhook.Options{
		Hosts: hosts, CA: rot.replicas.CA(), Dir: old.SecretDir(), Flags: []string{"--drain-delay", drainDelay},
	})
	// The API server keeps what served the CRD before its last change for a while, for watches, and
	// with it the bundle of then. No one sees its calls.
	next.AllowLog("TLS handshake error")
	oldBefore, nextBefore := reloads(t, old), reloads(t, next)
	tlstest.SwapSecretDir(t, old.SecretDir(), ca.Issue(t, tlstest.Leaf{Hosts: hosts}).Files())
	Eventually(t, "webhookd to serve the new certificate", func() bool {
		return reloads(t, old) > oldBefore && reloads(t, next) > nextBefore
	})
	rot.l.lap(2)

	rot.replicas.Set(next.Addr())
	rot.replicas.Processes = []*webhook.Process{next}
	old.Terminate(t)
	rot.ended = append(rot.ended, old)
	Eventually(t, "calls on connections with the new certificate", func() bool { return rot.r.Converted(t, next) > 0 })
	rot.l.lap(2)
}

// end ends the load and waits for those that drain still.
func (rot *rotation) end(t *testing.T) {
	t.Helper()
	rot.r.MustConvert(t, rot.replicas, 1, func() { rot.l.lap(10) })
	rot.l.noFailures()
	for _, old := range rot.ended {
		old.Wait(t)
	}
}

// reloads returns how often webhookd took over a certificate. It fails the test if it could not.
func reloads(t *testing.T, w *webhook.Process) float64 {
	t.Helper()
	const name = "webhookd_certificate_reloads_total"
	m := w.Metrics(t)
	if m.Sum(name, "result", "failure") > 0 {
		t.Error("webhookd cannot use the new certificate")
	}
	return m.Sum(name, "result", "success")
}
