package playground

import (
	"fmt"
	"time"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// The limits of an evaluation. An object in etcd has at most 1.5 MiB.
const (
	MaxTime   = 20 * time.Second
	MaxCRD    = 3 << 20
	MaxRules  = 1 << 20
	MaxObject = 3 << 19
	// MaxInput is the size of an Input as JSON, in which a byte may take six.
	MaxInput = 6 * (MaxCRD + MaxRules + MaxObject)
	// MaxLaws is how many random objects an Input may ask for.
	MaxLaws = 1000
)

// tooLarge returns a finding for each text that is too large.
func tooLarge(in *Input) []Finding {
	var found []Finding
	for _, text := range []struct {
		in    string
		bytes int
		limit int
	}{{"crd", len(in.CRD), MaxCRD}, {"rules", len(in.Rules), MaxRules}, {"object", len(in.Object), MaxObject}} {
		if text.bytes > text.limit {
			found = append(found, Finding{
				In: text.in, Severity: string(finding.Error), Code: "too-large",
				Message: fmt.Sprintf("the text has %d bytes, and this page takes %d", text.bytes, text.limit),
				Hint:    "use webhookd check and webhookd convert",
			})
		}
	}
	in.Laws = min(in.Laws, MaxLaws)
	return found
}
