package keep

import (
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A stamp is a digest of what is shown, or says that nothing is. The sum of defaults is 0.
type stamp struct {
	sum uint64
	any bool
	// absent is the part of the sum for places that have a default and are in nothing that is
	// there. Schemas may have got them later.
	absent uint64
}

// isDefaults reports whether only what schemas fill in is shown.
func (s stamp) isDefaults() bool { return s.any && s.sum == 0 }

func stampOf(sum uint64) stamp { return stamp{sum: sum, any: true} }

// add adds the digest of another part, in any order.
func (s *stamp) add(sum uint64) { s.sum, s.any = s.sum+sum, true }

// addDefault adds a part that a schema fills in. It is in an object, or absent together with that.
func (s *stamp) addDefault(in *jsondoc.Node, place uint64) {
	if s.any = true; in.Kind() != jsondoc.Map {
		sum := mixed(place ^ hash("absent"))
		s.sum, s.absent = s.sum+sum, s.absent+sum
	}
}

func (s stamp) appendTo(dst []byte) []byte {
	if !s.any {
		return dst
	}
	return strconv.AppendUint(dst, s.sum, digestBase)
}

// parseStamp parses the text of appendTo, and reports whether it is valid.
func parseStamp(text string) (stamp, bool) {
	if text == "" {
		return stamp{}, true
	}
	sum, err := strconv.ParseUint(text, digestBase, 64)
	if err != nil {
		return stamp{}, false
	}
	var room [16]byte
	s := stampOf(sum)
	return s, string(s.appendTo(room[:0])) == text
}

// A mark is the beginning of a leaf's digest.
type mark [5]byte

func markOf(sum uint64) (m mark) {
	var room [16]byte
	copy(m[:], strconv.AppendUint(room[:0], sum, digestBase))
	return m
}

func (m mark) text() []byte {
	end := len(m)
	for end > 0 && m[end-1] == 0 {
		end--
	}
	return m[:end]
}
