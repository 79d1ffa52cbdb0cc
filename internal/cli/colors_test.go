package cli

import (
	"strings"
	"testing"
)

// --color overrides NO_COLOR, and a terminal is needed otherwise.
func TestColors(t *testing.T) {
	t.Parallel()
	args := []string{"check", "testdata/none.yaml"}
	for name, tt := range map[string]struct {
		args, environ []string
		want          string
	}{
		"no terminal":           {args, nil, "webhookd: "},
		"always":                {append(args, "--color=always"), nil, "\x1b[31mwebhookd:\x1b[0m "},
		"always beats NO_COLOR": {append(args, "--color", "always"), []string{"NO_COLOR=1"}, "\x1b[31mwebhookd:\x1b[0m "},
		"never":                 {append(args, "--color=never"), nil, "webhookd: "},
		"a choice that is none": {append(args, "--color=red"), nil, "webhookd: not a choice, write auto, always or never: --color \"red\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, tt.environ, strings.NewReader(""), tt.args...)
			if got.Code != 2 || !strings.HasPrefix(got.Stderr, tt.want) {
				t.Errorf("exit code %d, %q, want it to begin with %q", got.Code, got.Stderr, tt.want)
			}
		})
	}
}
