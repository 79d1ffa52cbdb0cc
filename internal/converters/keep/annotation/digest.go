package annotation

import (
	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Digest is one of what is shown, or says that nothing is. The sum of defaults is 0.
type Digest struct {
	Sum uint64
	Any bool
	// Absent is the part of the sum for places that have a default and are in nothing that is
	// there. Schemas may have got them later.
	Absent uint64
}

// IsDefaults reports whether only what schemas fill in is shown.
func (d Digest) IsDefaults() bool { return d.Any && d.Sum == 0 }

// DigestOf returns the digest of something that is shown.
func DigestOf(sum uint64) Digest { return Digest{Sum: sum, Any: true} }

// Add adds the digest of another part, in any order.
func (d *Digest) Add(sum uint64) { d.Sum, d.Any = d.Sum+sum, true }

// AddDefault adds a part that a schema fills in. It is in an object, or absent together with that.
func (d *Digest) AddDefault(in *jsondoc.Node, place uint64) {
	if d.Any = true; in.Kind() != jsondoc.Map {
		sum := hash.Mix(place ^ hash.Of("absent"))
		d.Sum, d.Absent = d.Sum+sum, d.Absent+sum
	}
}

// AppendTo appends the text of the digest, if anything is shown.
func (d Digest) AppendTo(dst []byte) []byte {
	if !d.Any {
		return dst
	}
	return hash.Append(dst, d.Sum)
}

// parseDigest parses the text of AppendTo, and reports whether it is valid.
func parseDigest(text string) (Digest, bool) {
	if text == "" {
		return Digest{}, true
	}
	sum, ok := hash.Parse(text)
	return DigestOf(sum), ok
}

// A Leaf is the beginning of a leaf's digest.
type Leaf [5]byte

// LeafOf returns the beginning of a digest.
func LeafOf(sum uint64) (l Leaf) {
	var room [16]byte
	copy(l[:], hash.Append(room[:0], sum))
	return l
}

func (l Leaf) text() []byte {
	end := len(l)
	for end > 0 && l[end-1] == 0 {
		end--
	}
	return l[:end]
}
