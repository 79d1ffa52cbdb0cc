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

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"keyAlgorithm": "key algorithm", "uriSANs": "uri san", "URLPath": "url path", "x-kubernetes/foo_bar": "x kubernete foo bar",
		"policies": "policy", "status": "status", "class": "class", "HTTPOnly": "http only", "clientIPs": "client ip", "a": "a", "": "",
	} {
		if got := strings.Join(didyoumean.Words(name), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSimilarityCountsWordsAndTheirShortForms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"image", "image", 1},
		{"img", "image", 0.5},
		{"cmd", "command", 0.5},
		{"colour", "color", 0.5},
		{"keySize", "size", 2. / 3},
		{"memory", "replicas", 0},
		{"", "", 0},
	} {
		if got := didyoumean.Similarity(didyoumean.Words(test.a), didyoumean.Words(test.b)); got != test.want {
			t.Errorf("%q, %q: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
