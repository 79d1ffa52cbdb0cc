package controlplane_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/e2e/scenario"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// byService is the Env in which CRDs refer to webhookd by its Service, as they do in a cluster,
// once no one calls there any more. The API server keeps what it has of a CRD for a second after
// the CRD is gone, or longer, and meanwhile goes on converting with its CA: events that it could
// not convert before, and those of objects of a new CRD with the same name.
func byService(t *testing.T, p *plane.Plane) *scenario.Env {
	t.Helper()
	e := env(p)
	quiet(t, e.Address(t))
	return e
}

func env(p *plane.Plane) *scenario.Env {
	return &scenario.Env{Cluster: p, Reference: scenario.ByService, Reviews: []string{"v1"}}
}

// quiet waits until no one has called for some time. A caller that fails calls ten times a second.
func quiet(t *testing.T, addr string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), scenario.Patience)
	defer stop()
	called, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
			select {
			case called <- struct{}{}:
			case <-ctx.Done():
			}
		}
	}()
	const enough = 1500 * time.Millisecond
	silence := time.NewTimer(enough)
	for waiting := true; waiting; {
		select {
		case <-called:
			silence.Reset(enough)
		case <-silence.C:
			waiting = false
		case <-ctx.Done():
			t.Errorf("the API server does not stop calling %s", addr)
			waiting = false
		}
	}
	stop()
	listener.Close()
	<-ended
}
