package didyoumean_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

func TestNearestFindsWhatWasMeant(t *testing.T) {
	t.Parallel()
	candidates := []string{"remediation", "remediationPolicy", "hostPort", "replicas", "x-y", "field", "metrics-port", "metrics-host"}
	for word, want := range map[string]string{
		"remdiation": "remediation", "hostport": "hostPort", "HostPort": "hostPort", "host_port": "hostPort",
		"replica": "replicas", "feild": "field", "xy": "x-y", "policy": "remediationPolicy", "minReplicas": "replicas",
		"METRICS.HOST": "metrics-host", "autoRemediationPolicy": "remediationPolicy", "metrics": "metrics-port", "port": "",
		"something": "", "": "", "z": "", strings.Repeat("r", 1000): "", "field": "",
	} {
		got, ok := didyoumean.Nearest(word, candidates)
		if got != want || ok != (want != "") {
			t.Errorf("Nearest(%.20q) = %q, %v, want %q", word, got, ok, want)
		}
	}
	if got := didyoumean.Hint("feild", candidates, "other"); got != "did you mean field?" {
		t.Error(got)
	}
	if got := didyoumean.Hint("something", candidates, "other"); got != "other" {
		t.Error(got)
	}
}

func TestLikenessCountsLetters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1},
		{"", "abcd", 0},
		{"hostPort", "host-port", 1},
		{"host", "hots", 0.75},
		{"kitten", "sitten", 1 - 1./6},
		{"abcd", "badc", 0.5},
		{"ca", "abc", 0}, // a letter that was swapped is not moved again
	} {
		if got := didyoumean.Likeness(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: %v, want %v", test.a, test.b, got, test.want)
		}
		if got := didyoumean.Likeness(test.b, test.a); got != test.want {
			t.Errorf("%q, %q: %v, want %v", test.b, test.a, got, test.want)
		}
	}
}
