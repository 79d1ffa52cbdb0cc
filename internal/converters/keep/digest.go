package keep

import (
	"bytes"
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// digest is the same for values that the API server reads as equal: the order of names and the
// spelling of strings and numbers do not count.
func digest(n *jsondoc.Node) uint64 {
	switch n.Kind() {
	case jsondoc.Map:
		if sum, err := digestMembers(n, nil); err == nil {
			return sum
		}
	case jsondoc.Array:
		return digestElements(n, digest)
	case jsondoc.String:
		literal := n.Text()
		if literal = literal[1 : len(literal)-1]; bytes.IndexByte(literal, '\\') < 0 {
			return hashed(hash(`"`), literal)
		}
		text, _ := n.Str()
		return hash(`"`, text)
	case jsondoc.Number:
		literal := n.Text()
		if isCanonical(literal) {
			return hashed(offset64, literal)
		}
		if text, err := jsondoc.CanonicalNumber(string(literal)); err == nil {
			return hash(text)
		}
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool:
	}
	return hashed(offset64, n.Text()) // also of an object with too many members
}

// digestElements is the digest of a list.
func digestElements(n *jsondoc.Node, digest func(*jsondoc.Node) uint64) uint64 {
	sum := hashed(offset64, []byte{'['})
	_ = n.Filter(func(_ []byte, m jsondoc.Member) bool {
		sum = mixed(sum*prime64 ^ digest(m.Node()))
		return true
	})
	return sum
}

// digestMembers is the digest of an object without some members.
func digestMembers(n *jsondoc.Node, leaveOut func(string) bool) (uint64, error) {
	return sumMembers(n, func(name []byte, m *jsondoc.Node) (uint64, bool) {
		if leaveOut != nil && leaveOut(string(name)) {
			return 0, false
		}
		return digest(m), true
	})
}

// sumMembers is the digest of an object, of digests of its members.
func sumMembers(n *jsondoc.Node, digest func(name []byte, m *jsondoc.Node) (sum uint64, counts bool)) (uint64, error) {
	sum := uint64(0)
	err := n.Filter(func(name []byte, m jsondoc.Member) bool {
		if s, counts := digest(name, m.Node()); counts {
			sum += mixed(hashed(offset64, name) ^ mixed(s))
		}
		return true
	})
	return mixed(hashed(offset64, []byte{'{'}) ^ sum), err
}

// isCanonical reports whether a number is spelt as CanonicalNumber spells it, as nearly all are.
func isCanonical(number []byte) bool {
	const sure = 18 // digits of an int64
	for _, c := range number {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(number) <= sure && (number[0] != '0' || len(number) == 1)
}

// digestText returns a digest as annotations have it.
func digestText(n *jsondoc.Node) string { return digestString(digest(n)) }

func digestString(sum uint64) string { return strconv.FormatUint(sum, digestBase) }

const (
	digestBase = 36
	maxDigest  = 13 // digits
)

// The constants of FNV-1a. Package hash/fnv would allocate for each digest (BenchmarkKinds in
// converters/rules).
const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

// hashed adds a text and its end to a hash.
func hashed[T string | []byte](sum uint64, text T) uint64 {
	return ended(begun(sum, text))
}

// begun adds the beginning of a text to a hash, and ended its end.
func begun[T string | []byte](sum uint64, text T) uint64 {
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime64
	}
	return sum
}

func ended(sum uint64) uint64 { return sum * prime64 }

func hash(parts ...string) uint64 {
	sum := uint64(offset64)
	for _, part := range parts {
		sum = hashed(sum, part)
	}
	return sum
}

// mixed spreads the bits of a hash, so that sums of hashes differ (the finalizer of MurmurHash3).
func mixed(sum uint64) uint64 {
	sum = (sum ^ sum>>33) * 0xff51afd7ed558ccd
	sum = (sum ^ sum>>33) * 0xc4ceb9fe1a85ec53
	return sum ^ sum>>33
}

// same reports whether two values are equal as JSON, or both nil. The order of names and the
// spelling of strings do not count; that of numbers does.
func same(a, b *jsondoc.Node) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.SameText(b):
		return true
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == jsondoc.String:
		s, _ := a.Str()
		t, _ := b.Str()
		return s == t
	case a.Kind() == jsondoc.Map || a.Kind() == jsondoc.Array:
		equal := a.Len() == b.Len()
		err := jsondoc.Pairs(a, b, false, func(_ []byte, a, b *jsondoc.Node) bool {
			equal = equal && same(a, b)
			return equal
		})
		return equal && err == nil
	}
	return false
}

// memberOf returns a schema's node for a member of an object: a property, or the values of a map.
func memberOf(s *crdschema.Node, name string) *crdschema.Node {
	if p := s.Property(name); p != nil {
		return p
	}
	return s.Values()
}

// memberNamed is memberOf without a copy of the name.
func memberNamed(s *crdschema.Node, name []byte) *crdschema.Node {
	if p := s.PropertyNamed(name); p != nil {
		return p
	}
	return s.Values()
}
