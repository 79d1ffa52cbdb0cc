package config_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

var update = flag.Bool("update", false, "rewrite the generated files")

func TestReference(t *testing.T) {
	t.Parallel()
	const name = "../../../docs/reference/configuration.md"
	if *update {
		if err := os.WriteFile(name, []byte(config.Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), config.Reference()); diff != "" {
		t.Errorf("configuration.md is not up to date, run this test with -update (-file +rendered):\n%s", diff)
	}
}
