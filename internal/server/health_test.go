package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
)

func check(name string, err error) server.Check {
	return server.Check{Name: name, Check: func(context.Context) error { return err }}
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(patience); !ok(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// TestReadiness is the table of states that make a replica unready. None of them makes it look
// dead.
func TestReadiness(t *testing.T) {
	t.Parallel()
	broken := errors.New("no rules")
	tests := map[string]struct {
		checks   []server.Check
		want     int
		messages []string // parts
	}{
		"nothing to check": {nil, 200, nil},
		"check passes":     {[]server.Check{check("registry", nil)}, 200, nil},
		"check fails":      {[]server.Check{check("registry", broken), check("other", nil)}, 503, []string{"not ready: registry: no rules"}},
		"two checks fail":  {[]server.Check{check("a", broken), check("b", errors.Join(broken, broken))}, 503, []string{"a: no rules; b: no rules; no rules"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(o *server.Options) { o.Checks = tt.checks })
			client := newClient(t)
			got := get(t, client, s.adminURL()+"/readyz")
			if own, _ := serve(t, s.Handler(), http.MethodGet, "/readyz", "10.0.0.1:1"); own != got.code {
				t.Errorf("webhook listener: code %d, want that of the admin listener, %d", own, got.code)
			}
			if got.code != tt.want {
				t.Errorf("code %d, want %d: %s", got.code, tt.want, got.body)
			}
			if got.header.Get("Cache-Control") != "no-store" || got.code == 200 && got.body != "ok\n" {
				t.Errorf("answer %q with %v", got.body, got.header)
			}
			if got.code != 200 {
				message := got.message(t)
				for _, part := range tt.messages {
					if !strings.Contains(message, part) {
						t.Errorf("message %q does not say %q", message, part)
					}
				}
			}
			alive := get(t, client, s.adminURL()+"/livez")
			if kind := alive.header; alive.code != 200 || kind.Get("Content-Type") != "text/plain; charset=utf-8" || kind.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("liveness %d with %v, want 200 and plain text", alive.code, kind)
			}
		})
	}
}
