// Package hash has the hash function of digests in annotations: FNV-1a with the finalizer of
// MurmurHash3. It must not change, since objects store its results. Package hash/fnv would allocate
// for each digest (BenchmarkKinds in converters/rules).
package hash

import "strconv"

// Offset is the hash of nothing, to which texts are added.
const Offset uint64 = 14695981039346656037

const prime = 1099511628211

// Of returns the hash of texts.
func Of(parts ...string) uint64 {
	sum := Offset
	for _, part := range parts {
		sum = Add(sum, part)
	}
	return sum
}

// Add adds a text and its end to a hash.
func Add[T string | []byte](sum uint64, text T) uint64 { return End(Begin(sum, text)) }

// Begin adds the beginning of a text to a hash.
func Begin[T string | []byte](sum uint64, text T) uint64 {
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

// End adds the end of a text to a hash.
func End(sum uint64) uint64 { return sum * prime }

// Mix spreads the bits of a hash, so that sums of hashes differ.
func Mix(sum uint64) uint64 {
	sum = (sum ^ sum>>33) * 0xff51afd7ed558ccd
	sum = (sum ^ sum>>33) * 0xc4ceb9fe1a85ec53
	return sum ^ sum>>33
}

const base = 36

// MaxText is the length of the longest text of a hash.
const MaxText = 13

// Append appends the text of a hash: digits and lower-case letters.
func Append(dst []byte, sum uint64) []byte { return strconv.AppendUint(dst, sum, base) }

// Text returns the text of a hash.
func Text(sum uint64) string { return strconv.FormatUint(sum, base) }

// Parse returns the hash of a text, and whether it is one that Text writes.
func Parse(text string) (sum uint64, ok bool) {
	sum, err := strconv.ParseUint(text, base, 64)
	return sum, err == nil && Text(sum) == text
}
