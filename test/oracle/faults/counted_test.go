package faults_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// TestR16StalledReviewsAreCounted has clients stop in the middle of a body, and others not read the
// answer, with bodies of every shape: what lives on the heap then is at most half as much again as
// what is counted.
func TestR16StalledReviewsAreCounted(t *testing.T) {
	// Not in parallel: it takes much memory.
	const size, eachConnection = 300_000, 48 << 10
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			p := launchTolerant(t, ca, "--pprof", "--memory-limit=460Mi")
			body := s.make(size)
			code, answer, err := posterFrom(t, crowdAddress, p.Addr, config).post(t.Context(), body)
			if err != nil {
				t.Fatal(err)
			}
			sent := map[string]int{"half of the body": len(body) / 2}
			if code == http.StatusOK && len(answer) > size/2 {
				sent["no answer is read"] = len(body)
			}
			for what, part := range sent {
				for _, n := range scaledList([]int{10, 50}, []int{10, 100, 300}) {
					before, err := p.GC()
					if err != nil {
						t.Fatal(err)
					}
					stalled := make([]net.Conn, n)
					for i := range stalled {
						stalled[i] = stallIn(t, p.Addr, config, body, part)
					}
					var took, counted float64
					wait.Until(t, "all of them to stall", func() bool {
						was := p.Scrape()["webhookd_request_bytes_in_flight"]
						live, err := p.GC()
						if err != nil {
							t.Fatal(err)
						}
						m := p.Scrape()
						took, counted = float64(live)-float64(before), was+m["webhookd_connections"]*eachConnection
						return m["webhookd_requests_in_flight"] == float64(n) && m["webhookd_requests_waiting"] == 0 && m["webhookd_request_bytes_in_flight"] == was
					})
					if took > 1.5*counted {
						t.Errorf("%s, %d times: %.0f bytes live, and %.0f are counted", what, n, took, counted)
					} else {
						t.Logf("%s, %d times: %.2f bytes live for each that is counted", what, n, took/counted)
					}
					for _, c := range stalled {
						c.Close()
					}
					wait.Until(t, "the end of all of them", func() bool { return p.Scrape()["webhookd_requests_in_flight"] == 0 })
				}
			}
		})
	}
}

// stallIn sends the first bytes of a review, and then does nothing.
func stallIn(t *testing.T, addr string, config *tls.Config, body []byte, part int) net.Conn {
	t.Helper()
	c, err := from(crowdAddress, config).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if tcp, ok := c.(*tls.Conn).NetConn().(*net.TCPConn); ok { //nolint:forcetypeassert // of a tls.Dialer
		_ = tcp.SetReadBuffer(4 << 10)
	}
	if _, err := io.WriteString(c, requestHead+strconv.Itoa(len(body))+"\r\n\r\n"+string(body[:part])); err != nil {
		t.Fatal(err)
	}
	return c
}
