package suggest

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"keyAlgorithm": "key algorithm", "uriSANs": "uri san", "URLPath": "url path", "x-kubernetes/foo_bar": "x kubernete foo bar",
		"policies": "policy", "status": "status", "class": "class", "HTTPOnly": "http only", "a": "a", "": "",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("words(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNamesThatAreAlike(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b  string
		alike bool
	}{
		{"img", "image", true},
		{"cmd", "command", true},
		{"colour", "color", true},
		{"config", "configuration", true},
		{"keySize", "size", true},
		{"host", "port", false},
		{"memory", "replicas", false},
	} {
		if score := alike(words(test.a), words(test.b)); (score >= enough) != test.alike {
			t.Errorf("%s and %s: %v, want alike: %v", test.a, test.b, score, test.alike)
		}
	}
}
