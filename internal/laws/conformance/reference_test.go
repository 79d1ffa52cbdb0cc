package conformance_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

var update = flag.Bool("update", false, "rewrite the generated lists")

// Pages list each law and each check.
func TestReference(t *testing.T) {
	t.Parallel()
	var laws, checks strings.Builder
	table := hold.Table()
	slices.SortStableFunc(table, func(a, b hold.Row) int { return cmp.Compare(codeOf(a.Law), codeOf(b.Law)) })
	for _, row := range table {
		fmt.Fprintf(&laws, "- **%s**: %s%s%s\n", row.Law, strings.ToUpper(row.Says[:1]), row.Says[1:], row.More)
	}
	for _, c := range conformance.Checks() {
		fmt.Fprintf(&checks, "- `%s`: %s\n", c.Name, c.Requires)
	}
	for name, list := range map[string]string{"explanation/losslessness": laws.String(), "how-to/compare-with-your-webhook": checks.String()} {
		const start, end = "<!-- made by internal/laws, make generate -->\n", "<!-- end of what is made -->\n"
		name = "../../../docs/" + name + ".md"
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, hasStart := strings.Cut(string(page), start)
		_, after, hasEnd := strings.Cut(rest, end)
		if !hasStart || !hasEnd {
			t.Fatalf("%s has no place for the list: %q and %q", name, start, end)
		}
		got := before + start + "\n" + list + "\n" + end + after
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := gocmp.Diff(string(page), got); diff != "" {
			t.Errorf("the page is not up to date, run this test with -update (-file +generated):\n%s", diff)
		}
	}
}

// codeOf is the number of a law. Laws without one come last.
func codeOf(law hold.Law) int {
	code, _, _ := strings.Cut(string(law), " ")
	n, err := strconv.Atoi(strings.TrimPrefix(code, "L"))
	if err != nil {
		return len(hold.Table()) + 1
	}
	return n
}
