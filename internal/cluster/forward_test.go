package cluster_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

// dialed returns a client that calls the API server over a network.
func dialed(t *testing.T, s *clustertest.Server) *cluster.Client {
	t.Helper()
	c, err := cluster.New(cluster.Options{Kubeconfig: s.Kubeconfig(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const podsPath = "/api/v1/namespaces/ns/pods/"

// forwarding returns an API server with a Service, and a listener that repeats lines behind one of
// its pods.
func forwarding(t *testing.T) *clustertest.Server {
	t.Helper()
	s := clustertest.New()
	s.Put(t, "/api/v1/namespaces/ns/services/webhook", "kubectl", `{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"ns","name":"webhook"},
		"spec":{"selector":{"app":"webhook"},"ports":[{"port":443,"targetPort":"https"},{"port":80}]}}`)
	s.Put(t, "/api/v1/namespaces/ns/services/bare", "kubectl", `{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"ns","name":"bare"},"spec":{"ports":[{"port":443}]}}`)
	for name, ready := range map[string]string{"a": "False", "b": "True"} {
		s.Put(t, podsPath+name, "kubectl", fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":%q,"labels":{"app":"webhook"}},
			"spec":{"containers":[{"name":"c","ports":[{"name":"https","containerPort":9443}]}]},
			"status":{"conditions":[{"type":"Ready","status":%q}]}}`, name, ready))
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	s.Listeners = map[string]string{"b:9443": listener.Addr().String()}
	return s
}

func TestForward(t *testing.T) {
	t.Parallel()
	s := forwarding(t)
	dial, err := dialed(t, s).Forward(t.Context(), "ns", "webhook", 443)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			conn, err := dial(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			lines := bufio.NewReader(conn)
			for j := range 20 {
				want := fmt.Sprintf("%d %s %d\n", i, strings.Repeat("x", 10_000), j)
				if _, err := io.WriteString(conn, want); err != nil {
					t.Error(err)
					return
				}
				if got, err := lines.ReadString('\n'); got != want {
					t.Errorf("got %d bytes, %v", len(got), err)
					return
				}
			}
		})
	}
	group.Wait()
	if !slices.Contains(s.Requests(), "create "+podsPath+"b/portforward") {
		t.Errorf("requests %q", s.Requests())
	}
}

func TestForwardFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		service string
		port    int
		rules   []clustertest.Rule
		says    string
	}{
		"no such Service":   {"other", 443, nil, `services "other" not found`},
		"no such port":      {"webhook", 8443, nil, "ns/webhook: no port 8443 in the Service, correct it there or in spec.conversion of the CRD"},
		"no selector":       {"bare", 443, nil, "ns/bare: no pods to forward to, the Service has no selector"},
		"nothing listens":   {"webhook", 80, nil, "nothing listens there"},
		"no right to list":  {"webhook", 443, []clustertest.Rule{{Verb: "get", Path: "/api/v1/namespaces/ns/services/webhook"}}, "allow list of pods, in a Role of the namespace ns"},
		"no right to reach": {"webhook", 443, []clustertest.Rule{{Verb: "get", Path: "/api/v1/namespaces/ns/services/webhook"}, {Verb: "list", Path: "/api/v1/namespaces/ns/pods"}}, "\nallow create of pods/portforward, in a Role of the namespace ns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := forwarding(t)
			s.Rules = test.rules
			dial, err := dialed(t, s).Forward(t.Context(), "ns", test.service, test.port)
			if err == nil {
				var conn net.Conn
				if conn, err = dial(t.Context()); err == nil {
					defer conn.Close()
					_, err = conn.Read(make([]byte, 1))
				}
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %s", err, test.says)
			}
		})
	}
}

// A Service whose pods all start is not ready for anyone.
func TestForwardNeedsAReadyPod(t *testing.T) {
	t.Parallel()
	s := forwarding(t)
	s.Delete(podsPath + "b")
	if _, err := dialed(t, s).Forward(t.Context(), "ns", "webhook", 443); err == nil || !strings.Contains(err.Error(), "no ready pod of the Service") {
		t.Errorf("got %v", err)
	}
}
