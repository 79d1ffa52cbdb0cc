package check

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// A law that does not hold is a finding about the place that differs.
func TestLiveLaw(t *testing.T) {
	t.Parallel()
	kind := &connect.Kind{Kind: &converters.Kind{}, Version: "v1"}
	for _, showValues := range []bool{false, true} {
		sums := &liveSums{cause: &diagnosis.Rules{Conversion: &syntax.Conversion{}}, kind: kind, showValues: showValues, sums: map[saying]*liveSum{}}
		sums.add("a/b", &compare.Examination{Version: "v1", Broken: &hold.ViolationError{
			Law: "L2 edit", From: "v1beta1", To: "v1", At: "v1beta1", Path: ".spec.list[3]", Was: "1", Is: "2", Problem: "the-secret",
		}}, nil)
		got := sums.findings(5)[0]
		want := "v1 -> v1beta1: .spec.list[]: law L2 edit does not hold for the object or an edit of it (1 of 5 live objects, such as a/b)"
		if showValues {
			want += ": was 1, is 2"
		}
		if got.Message != want || got.Severity != finding.Error {
			t.Errorf("%+v", got)
		}
	}
}
