package serve

import (
	"os/exec"
	"strings"
	"testing"
)

// The server has no access to the API: it links no client of it.
func TestTheServerLinksNoClient(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if strings.HasPrefix(path, "k8s.io/client-go/") || strings.HasSuffix(path, "/internal/cluster\n") {
			t.Errorf("it links %s", strings.TrimSpace(path))
		}
	}
}
