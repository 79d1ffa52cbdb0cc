package config

import (
	"errors"
	"math"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bytes is a size in bytes. Its text form is that of a Kubernetes resource quantity: 128Mi, 1Gi,
// 1.5Gi, 500M, or a plain number.
type Bytes int64

// A quantity is narrowed before it is parsed: no sign, no exponent (a large one takes for ever),
// and no milli-bytes, which is what 128m means to Kubernetes.
var quantity = regexp.MustCompile(`^\d{1,19}(\.\d{1,9})?([KMGT]i|[kMGT])?$`)

// ParseBytes reads the text form. Anything that is not a whole number of bytes, or does not fit, is
// an error.
func ParseBytes(text string) (Bytes, error) {
	if quantity.MatchString(text) {
		q, err := resource.ParseQuantity(text)
		n := q.Value() // rounds fractions up, and too large a value down
		if err == nil && n != math.MaxInt64 && q.CmpInt64(n) == 0 {
			return Bytes(n), nil
		}
	}
	return 0, errors.New(Size.text().not)
}

// String returns the text form with the largest binary unit that is exact.
func (b Bytes) String() string {
	return resource.NewQuantity(int64(b), resource.BinarySI).String()
}
