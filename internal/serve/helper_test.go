package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// exampleKinds are the kinds and functions of examples/custom-server.
func exampleKinds() ruleset.Compiled {
	return ruleset.Compiled{Kinds: exampletest.Kinds(), Functions: exampletest.Functions()}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
