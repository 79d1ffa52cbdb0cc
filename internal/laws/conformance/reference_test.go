package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/laws/conformance"
)

var update = flag.Bool("update", false, "rewrite the generated list")

// The page about conversion webhooks lists each check.
func TestReference(t *testing.T) {
	t.Parallel()
	const (
		name  = "../../../docs/how-to/compare-with-your-webhook.md"
		start = "<!-- checks: made by internal/laws/conformance, make generate -->\n"
		end   = "<!-- end of checks -->\n"
	)
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasStart := strings.Cut(string(page), start)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasStart || !hasEnd {
		t.Fatalf("%s has no place for the checks: %q and %q", name, start, end)
	}
	var list strings.Builder
	for _, c := range conformance.Checks() {
		fmt.Fprintf(&list, "- `%s`: %s\n", c.Name, c.Requires)
	}
	got := before + start + "\n" + list.String() + "\n" + end + after
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(page), got); diff != "" {
		t.Errorf("the page is not up to date, run this test with -update (-file +generated):\n%s", diff)
	}
}
