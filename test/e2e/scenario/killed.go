package scenario

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// Killed kills the only webhookd under load and starts it again, several times. While it is away,
// users can still read at the storage version, and what else they do fails with a text that says
// why. Once it is back, watches and lists go on, and nothing has been lost: no object, no write
// that was answered, no managedFields.
func Killed(t *testing.T, e *Env) {
	t.Helper()
	o := e.Options(t)
	w := webhook.Start(t, o)
	o.Listen, o.CA, o.Dir = w.Addr(), w.CA(), w.Secret // the next one takes its place
	r := e.Install(t, CRD(t, "crontabs.example.com"), w)
	p := populate(t, r, 10)
	watched := populateOne(t, r, "watched")
	was := p.snapshot(t)
	f := follow(t, r, "v1beta1")
	f.sees(t, watched, "before")
	l := startLoad(t, r, p)
	l.lap(10)
	for round := range 3 {
		if r.Converted(t, w) == 0 {
			t.Error("webhookd was not asked")
		}
		l.outage(func() {
			w.Kill()
			away(t, r, watched)
			l.lap(5)
			w = webhook.Start(t, o)
			began := time.Now()
			back(t, r, watched)
			t.Logf("all versions are back %s after webhookd", time.Since(began).Round(time.Millisecond))
			f.sees(t, watched, fmt.Sprint("round ", round))
			t.Logf("the watch is back %s after webhookd", time.Since(began).Round(time.Millisecond))
		})
		l.lap(10)
	}
	l.noFailures()
	l.intact(t)
	p.unharmed(t, was)
	if r.Converted(t, w) == 0 {
		t.Error("webhookd was not asked")
	}
}

func populateOne(t *testing.T, r *Resource, name string) string {
	t.Helper()
	r.Create(t, "v1", name, "{host: "+name+".example.com, port: '80'}")
	return name
}

// away looks at what users see without webhookd.
func away(t *testing.T, r *Resource, name string) {
	t.Helper()
	if _, err := r.At("v1").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("get at the storage version without webhookd: %v", err)
	}
	if list, err := r.At("v1").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("list at the storage version without webhookd: %v", err)
	} else if len(list.Items) == 0 {
		t.Error("the list at the storage version is empty")
	}
	_, err := r.At("v1beta1").Get(t.Context(), name, metav1.GetOptions{})
	failsWith(t, "get at another version without webhookd", err,
		"conversion webhook for example.com/v1, Kind=CronTab failed: Post ", "/crdconvert?timeout=30s", "connection refused")
	err = r.At("v1beta1").Delete(t.Context(), name, metav1.DeleteOptions{})
	failsWith(t, "delete at another version without webhookd", err, "connection refused")
	if apierrors.IsNotFound(err) || r.Stored(t, name) == nil {
		t.Errorf("the object is gone: %v", err)
	}
}

// back waits until all versions can be read and listed again.
func back(t *testing.T, r *Resource, name string) {
	t.Helper()
	for _, version := range r.Served {
		Succeeds(t, "get and list at "+version, func() error {
			if _, err := r.At(version).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
				return err
			}
			_, err := r.At(version).List(t.Context(), metav1.ListOptions{})
			return err
		})
	}
}
