package dashboard_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/oracle/wait"
	"github.com/go-logr/logr"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"github.com/crdconvert/webhookd/test/dashboard"
)

// TestMain silences the log of kube-apiserver's client.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
}

// Every query of the dashboard shows something of a server under load, unless quiet says why not.
func TestEveryPanelShowsARealServer(t *testing.T) {
	t.Parallel()
	d, err := dashboard.Parse(read(t, "deploy", "helm", "webhookd", "dashboards", "webhookd.json"))
	if err != nil {
		t.Fatal(err)
	}
	source := underLoad(t)
	results, err := source.Results(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	checkQuiet(t, results)
}

func checkQuiet(t *testing.T, results []dashboard.Result) {
	t.Helper()
	reasons := quiet()
	for _, r := range results {
		reason, isQuiet := reasons[r.Ref]
		delete(reasons, r.Ref)
		switch {
		case r.Shows() && isQuiet:
			t.Errorf("query %s of %q shows something, although %s", r.Ref, r.Title, reason)
		case !r.Shows() && !isQuiet:
			t.Errorf("query %s of %q shows nothing but 0: %s", r.Ref, r.Title, r.Expr)
		}
	}
	for ref := range reasons {
		t.Errorf("there is no query %s", ref)
	}
}

// underLoad lets two replicas convert, fail and reload for some time, and returns the samples.
func underLoad(t *testing.T) *dashboard.Source {
	t.Helper()
	f := newFleet(t)
	a, b := f.start("webhookd-a"), f.start("webhookd-b")
	s := startScraper(t)
	apiServer := httptest.NewServer(legacyregistry.Handler())
	t.Cleanup(apiServer.Close)
	s.watch(apiServer.Listener.Addr().String(), a, b)
	c := newTraffic(t, f, a, b)
	stop := c.keep(
		stream{example: "widget", object: "git.v1", to: "v1beta1", rate: 12, wave: 12},
		stream{example: "widget", object: "git.v1", to: "v1beta1", list: 20, rate: 1, wave: 10},
		stream{example: "widget", object: "git.v1beta1", to: "v1", rate: 8, wave: 9},
		stream{example: "widget", object: "git.v1", to: "v1alpha1", rate: 5, wave: 16},
		stream{example: "crontab-rules", object: "basic.v1beta1", to: "v1", rate: 10, wave: 7},
		stream{example: "labels", object: "phone.v1", to: "v1alpha1", rate: 6, wave: 20},
	)
	t.Cleanup(stop)
	const warmUp = 3 * time.Second
	began := time.Now().Add(warmUp)
	at := func(d time.Duration) { wait.For(t, time.Until(began.Add(d))) }

	at(2 * time.Second)
	a.edit(t, "widget", "hub: v1", "hub: v9") // which the CRD does not have
	b.edit(t, "widget", "hub: v1", "hub: v9")
	at(4 * time.Second)
	a.edit(t, "labels", "drop: the server is gone", "drop: the wiki is gone")
	at(6 * time.Second)
	b.edit(t, "labels", "drop: the server is gone", "drop: the wiki is gone")
	failures := newFailures(c)
	for i := range 4 {
		at(time.Duration(7+i) * time.Second)
		failures.all()
		c.refused()
	}
	at(11 * time.Second)
	f.rotate(a, 1500*time.Millisecond)
	f.rotate(b, 0)
	a.configure(t, "warn")
	at(12500 * time.Millisecond)
	c.crowd(a, 3*time.Second)
	at(15 * time.Second)
	c.crowd(b, 3*time.Second)
	at(18 * time.Second)
	c.use(b)
	a.Terminate() // and it drains for longer than the rest
	at(20 * time.Second)
	return &dashboard.Source{
		Engine: s.engine, DB: s.db, From: began, To: time.Now(), Step: scrapeInterval, Scrape: scrapeInterval,
		Absent: absent(),
	}
}
