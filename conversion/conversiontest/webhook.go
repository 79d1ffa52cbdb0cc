package conversiontest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// WebhookOptions say how [Webhook] calls a webhook, and how thorough it is. The zero WebhookOptions
// are those of a test in CI: some seconds for a kind of ordinary size.
type WebhookOptions struct {
	// Client calls the webhook, such as that of an httptest.Server with TLS. It is called from
	// several goroutines. nil is a client that trusts the CAs of the system.
	Client *http.Client
	// Seed is that of all random choices. A failure names it. 0 means 1.
	Seed uint64
	// Objects is how many random objects of each version every check takes. 0 means 50.
	Objects uint64
	// Drops are places whose values the webhook loses on purpose.
	Drops []Drop
}

// Webhook holds a running webhook, in any language, to what kube-apiserver requires of its answers,
// and to the laws that do not depend on how a webhook keeps values. The checks are those of
// `webhookd compare --server`. The URL is that which kube-apiserver would post to, over HTTPS or
// HTTP. A handler in Go is tested by that of its httptest.Server. The CRD is the text of one
// CustomResourceDefinition.
//
// Each check is a subtest of its name, so `go test -skip` leaves one out. It fails with the
// smallest object that it finds. A check for which there is nothing to test passes, and says so in
// its log. The test itself fails if the webhook cannot be called, if chance makes no valid object,
// and for a CRD that is not valid. A nil opts is the zero WebhookOptions.
func Webhook(t *testing.T, url string, crd []byte, opts *WebhookOptions) {
	t.Helper()
	results, err := results(t.Context(), url, crd, opts)
	if err != nil {
		t.Fatalf("conversiontest.Webhook: %v", err)
	}
	for i := range results {
		t.Run(results[i].Name, func(t *testing.T) {
			t.Helper()
			show(t, &results[i])
		})
	}
}

// show fails a test for a check that failed.
func show(tb testing.TB, r *conformance.Result) {
	tb.Helper()
	switch {
	case r.Failed > 0:
		tb.Errorf("%d of %d fail\nrequired: %s\notherwise: %s\n%v", r.Failed, r.Objects, r.Requires, r.Otherwise, r.First)
	case r.Untested != "":
		tb.Logf("nothing to test: %s", r.Untested)
	}
}

// results returns the results of all checks.
func results(ctx context.Context, url string, crd []byte, opts *WebhookOptions) ([]conformance.Result, error) {
	if opts == nil {
		opts = &WebhookOptions{}
	}
	crds, err := apiserver.Parse("crd", crd)
	if err != nil {
		return nil, err
	}
	if len(crds) != 1 {
		return nil, fmt.Errorf("the text has %d CustomResourceDefinitions, give that of the webhook's kind only", len(crds))
	}
	client := opts.Client
	if client == nil {
		client = &http.Client{Timeout: reviewclient.Timeout, CheckRedirect: reviewclient.NoRedirect}
		defer client.CloseIdleConnections()
	}
	suite := conformance.Suite{
		Post: func(ctx context.Context, review []byte) ([]byte, error) {
			return reviewclient.Post(ctx, client, url, review)
		},
		CRD: crds[0], Seed: cmp.Or(opts.Seed, hold.DefaultSeed), Objects: cmp.Or(opts.Objects, 50),
	}
	for _, d := range opts.Drops {
		suite.Drops = append(suite.Drops, hold.Drop(d))
	}
	return suite.Run(ctx)
}
