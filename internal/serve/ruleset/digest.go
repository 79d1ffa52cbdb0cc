package ruleset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
)

// digestLen is the number of hexadecimal digits of a digest that are shown.
const digestLen = 12

// Digest identifies the rules and CRDs of the kinds. It does not depend on how they are written or
// spread over files, what a CRD has apart from its spec, or the webhook that it points at.
func (r RuledKinds) Digest() string {
	kinds := slices.SortedFunc(slices.Values(r.Kinds), func(a, b converters.Kind) int { return strings.Compare(a.Name(), b.Name()) })
	sum := sha256.New()
	for _, k := range kinds {
		_, _ = fmt.Fprintf(sum, "%s %s %x\n", k.Name(), k.Rules, r.CRDs[k.GroupKind].Digest)
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLen]
}
