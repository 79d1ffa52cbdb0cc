package faults_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// requestHead is that of a review; what follows is the length of its body and the empty line.
const requestHead = "POST " + server.DefaultPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "

// TestR4TooManyConnections leaves the process with few descriptors, and 500 silent connections that
// take them (I24): the silent ones are cut off, a client that is served goes on, another connects,
// and the log does not fill.
func TestR4TooManyConnections(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	p := run(t, process.Options{
		CA: ca, Ulimit: "-n 64",
		Tolerated: []string{"too many open files", "TLS handshake error", unusable},
	})
	single := reviewtest.Body(1, 3000)
	kept := posterFrom(t, ownAddress, p.Addr, config)
	l := load.Start(t, load.Options{Workers: 1, Rate: 50, Call: func(int, int) error { return kept.success(t.Context(), single) }})
	l.More(20)
	began := time.Now()
	for range 500 {
		c, err := from(crowdAddress, nil).NetDialer.DialContext(t.Context(), "tcp", p.Addr) // the kernel takes those that the process cannot
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	wait.Until(t, "the descriptors to be used up", func() bool { return len(p.Log("too many open files")) > 0 })
	if err := posterFrom(t, ownAddress, p.Addr, config).success(t.Context(), single); err != nil {
		t.Errorf("a new connection: %v", err)
	}
	l.More(100)
	l.NoFailures()
	if lines, most := len(p.Log("Accept error")), int(time.Since(began).Seconds())+2; lines > most {
		t.Errorf("%d lines about it, want at most %d", lines, most)
	}
}
