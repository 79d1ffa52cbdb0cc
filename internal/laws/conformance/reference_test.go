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

var update = flag.Bool("update", false, "rewrite the generated page")

func TestReference(t *testing.T) {
	t.Parallel()
	const name = "../../../docs/reference/conformance.md"
	var page strings.Builder
	page.WriteString(head)
	for _, c := range conformance.Checks() {
		fmt.Fprintf(&page, "- `%s`: %s\n", c.Name, c.Requires)
	}
	page.WriteString(foot)
	if *update {
		if err := os.WriteFile(name, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("the page is not up to date, run this test with -update (-file +generated):\n%s", diff)
	}
}

const head = `# Checks of a conversion webhook

<!-- Generated from internal/laws/conformance by make generate -->

` + "`webhookd compare --server URL` and `conversiontest.Webhook` [make these checks](../how-to/test-any-webhook.md)." + `
If one fails, they print what happens to users.

`

const foot = `
Reviews are what kube-apiserver 1.37 posts: with a query string, a ` + "`response`" + ` that is not null, and a new line at the end. Objects are
random, valid, pruned, and defaulted.

Each check is judged by itself: a wrong uid fails only ` + "`uid`" + `, and objects that no review converts fail only ` + "`review`" + `. Only
` + "`large numbers`" + ` has objects with large numbers, of those that come back with a small one.

A webhook may add labels and annotations, but those of the object have to come back.

A check is not tested if the schemas or the webhook give no occasion: ` + "`mixed versions`" + ` needs three versions, and a webhook may refuse
` + "`v1beta1`" + ` if ` + "`conversionReviewVersions`" + ` does not name it.
`
