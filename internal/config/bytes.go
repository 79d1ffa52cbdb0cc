package config

import (
	"errors"
	"math"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bytes is a size in bytes. Its text form is that of a Kubernetes resource quantity: 128Mi,
// 1Gi, 1.5Gi, 500M, or a plain number.
type Bytes int64

// A quantity is narrowed before it is parsed: no sign, no exponent (a large one takes for ever),
// and no milli-bytes, which is what 128m means to Kubernetes.
var quantity = regexp.MustCompile(`^\d{1,19}(\.\d{1,9})?([KMGT]i|[kMGT])?$`)

var errBytes = errors.New("not a size: write bytes as a number, or with a unit, such as 128Mi or 1Gi")

// ParseBytes reads the text form. What isn't a whole number of bytes, or doesn't fit, is an error.
func ParseBytes(text string) (Bytes, error) {
	if !quantity.MatchString(text) {
		return 0, errBytes
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, errBytes
	}
	n := q.Value() // rounds fractions up and caps what is too large at the highest value
	if n == math.MaxInt64 || q.CmpInt64(n) != 0 {
		return 0, errBytes
	}
	return Bytes(n), nil
}

// String returns the text form with the largest binary unit that is exact.
func (b Bytes) String() string {
	return resource.NewQuantity(int64(b), resource.BinarySI).String()
}
