package conversion_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A manager that embeds the webhook links neither CEL nor a command line nor a client of the API.
func TestWhatTheLibraryLinks(t *testing.T) {
	t.Parallel()
	unwanted := regexp.MustCompile(`^(github\.com/google/cel-go|github\.com/spf13|k8s\.io/client-go|k8s\.io/apiserver|go\.uber\.org/zap)/`)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".", "./webhook").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if unwanted.MatchString(path) {
			t.Errorf("it links %s", strings.TrimSpace(path))
		}
	}
}
