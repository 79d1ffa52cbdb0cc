package cli

import (
	"encoding/pem"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// An error of a connection comes with what to do.
func TestConnectionsFailWithARemedy(t *testing.T) {
	t.Parallel()
	secure, plain, gone := httptest.NewTLSServer(nil), httptest.NewServer(nil), httptest.NewServer(nil)
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	gone.Close()
	folder := t.TempDir()
	object, ca := filepath.Join(folder, "object.yaml"), filepath.Join(folder, "ca.crt")
	writeFile(t, object, "{apiVersion: example.com/v1, kind: CronTab}\n")
	writeFile(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing listens":   {[]string{"--server", strings.Replace(gone.URL, "http:", "https:", 1)}, "start the webhook, or give the port"},
		"HTTP":              {[]string{"--server", strings.Replace(plain.URL, "http:", "https:", 1)}, "this port speaks HTTP"},
		"an unknown CA":     {[]string{"--server", secure.URL}, "give the CA of the webhook's certificate with --ca-file"},
		"another name":      {[]string{"--server", strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), "--ca-file", ca}, "give a host or a Service that the certificate names"},
		"an object, posted": {[]string{"--server", secure.URL, "--ca-file", ca}, "this is an object, not a review: webhookd compare -f"},
		"an object":         {nil, "this is an object, not a review"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, nil, nil, append([]string{"review", object}, tt.args...)...)
			if got.Code != voice.ExitFailed || !strings.Contains(got.Stderr, "hint: "+tt.want) {
				t.Errorf("got %+v, want the hint %s", got, tt.want)
			}
		})
	}
}
