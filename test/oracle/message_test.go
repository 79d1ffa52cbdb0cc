package oracle_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// TestMessages holds what the user reads where webhookd refuses a request as a whole, or fails. The
// goldens have what it says of objects; test/controlplane has what kubectl prints of each class of
// failure.
func TestMessages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server func(s *setup)
		want   string // SIZE is that of the body
	}{
		"body larger than max-body": {
			func(s *setup) { s.limits.MaxBodyBytes = 100 },
			"request body of SIZE bytes is larger than webhookd accepts: max-body is 100 bytes",
		},
		"body larger than the byte budget": {
			func(s *setup) { s.limits.InFlightBytes = 400 },
			"request body of SIZE bytes is larger than webhookd's in-flight byte budget leaves for " +
				"one request, which is 300 bytes: give it more memory or raise max-in-flight-bytes",
		},
		"defect of webhookd": {
			func(s *setup) { s.review.ReviewDone = func(context.Context, review.Result) { panic("a secret") } },
			"webhookd panicked; its log has the stack",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) {
				s.kinds = []converters.Kind{plain()}
				tt.server(s)
			})
			_, err := w.client().Converter(t, madeUp("Plain"), madeUpVersions(), w.byService("v1")).To(named(t, group+"/v1", "Plain", "a"), "v2")
			if err == nil {
				t.Fatal("no error")
			}
			got := regexp.MustCompile(`request body of \d+`).ReplaceAllString(err.Error(), "request body of SIZE")
			if want := "conversion webhook for " + group + "/v1, Kind=Plain failed: " + tt.want; got != want {
				t.Errorf("the user reads\n%s\nwant\n%s", got, want)
			}
			w.noErrors()
		})
	}
}
