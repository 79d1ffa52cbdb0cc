package cli

import (
	"bytes"
	"strings"
	"testing"
)

// kubectl runs a program by its name: kubectl-webhookd, and kubectl_complete-webhookd for the words
// that may follow.
func TestPluginOfKubectl(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		code int
		want string // part of what is printed
	}{
		{"/usr/local/bin/kubectl-webhookd crd status --help", 0, "Usage:\n  kubectl webhookd crd status [FILE...]"},
		{"kubectl-webhookd.exe", 0, "\"kubectl webhookd COMMAND --help\" says more"},
		{"kubectl-webhookd crd aply", 2, "hint: did you mean kubectl webhookd crd apply?\n"},
		{"webhookd crd status --help", 0, "Usage:\n  webhookd crd status [FILE...]"},
		{"kubectl_complete-webhookd crd st", 0, "status\tShow what CRDs point at"},
	} {
		var out bytes.Buffer
		code := Run(t.Context(), "", exampleKinds(), strings.Fields(tt.args), nil, strings.NewReader(""), &out, &out)
		if code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %d\n%s", tt.args, code, &out)
		}
	}
}
