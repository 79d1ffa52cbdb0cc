package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/conformance"
)

var update = flag.Bool("update", false, "rewrite the generated page")

func TestReference(t *testing.T) {
	t.Parallel()
	const name = "../../docs/reference/conformance.md"
	var page strings.Builder
	page.WriteString(head)
	for _, c := range conformance.Checks() {
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", c.Name, c.Requires, c.Otherwise)
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

<!-- Generated from internal/conformance; after a change there run: go test ./internal/conformance -run TestReference -update -->

` + "`webhookd fuzz --server URL` and `conversiontest.Webhook` make these checks of any conversion webhook. [Test any conversion\nwebhook](../how-to/test-any-webhook.md) shows how." + `

| check | what is required | otherwise |
|---|---|---|
`

const foot = `
Reviews are what kube-apiserver 1.37 posts: with a query string, a ` + "`response`" + ` that is not null, and a new line at the end. Objects are random, valid,
and as the API server has them: pruned, and with the defaults of their version.

Each check is judged by itself. The objects of an answer with a wrong uid are still held to the laws. As in the API server, everything in metadata
except labels and annotations is the source's again. Objects that no review converts fail ` + "`review`" + `, and the other checks do without
them. ` + "`large numbers`" + ` is judged on objects that come back with a small number, and all other checks on objects without large ones.

A webhook may keep values in labels and annotations of its own. What it adds there is no difference; the labels and annotations of the
objects have to come back.

A check is not tested, and does not fail, if the schemas or the webhook give no occasion: ` + "`mixed versions`" + ` needs three versions, and a webhook may refuse
` + "`v1beta1`" + ` if ` + "`conversionReviewVersions`" + ` does not name it.
`
