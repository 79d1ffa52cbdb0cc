package annotation

import (
	"bytes"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
)

// Annotations with these prefixes belong to webhookd. Kept values of status have a prefix of their
// own, so that a policy can tell who may write them.
const (
	Prefix       = "conversion.webhookd.io/"
	StatusPrefix = "status." + Prefix
)

// IsOwn reports whether the name of an annotation or label belongs to webhookd.
func IsOwn[T string | []byte](name T) bool {
	return begins(name, Prefix) || begins(name, StatusPrefix)
}

func begins[T string | []byte](text T, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

// VersionOf returns the version whose values an annotation keeps, and whether it is webhookd's own.
func VersionOf(name string) (version string, own bool) {
	version, _, own = splitName(name)
	return version, own
}

// splitName splits the name of an annotation behind its prefix into a version and the rest: a path
// or a digest.
func splitName(name string) (version, rest string, own bool) {
	version, rest, _ = strings.Cut(name[strings.IndexByte(name, '/')+1:], ".")
	return version, rest, IsOwn(name)
}

// MayBeIn is true of any text of annotations with a name that belongs to webhookd. It spares most
// objects a list of their annotations, one of which is kubectl's copy of the object. Obscured says
// that the text may escape letters or dots.
func MayBeIn(annotations []byte, obscured bool) bool {
	return obscured || bytes.Contains(annotations, []byte("webhookd.io"))
}

// maxName limits the name behind the prefix
// (k8s.io/apimachinery/pkg/util/validation.IsQualifiedName).
const maxName = 63

// digestMark precedes the digest of a path that does not fit into the name.
const digestMark = "--"

// isPlain reports whether a member's name may be part of an annotation's name.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && (c != '_' && c != '-' || i == 0 || i == len(name)-1) {
			return false
		}
	}
	return name != "" && !strings.Contains(name, digestMark)
}

// Label returns what VersionOf returns for annotations of a version.
func Label(version string) string { return label(version) }

// label returns a version as annotations name it: as it is, or a digest if it is too long.
func label(version string) string {
	const longest = 24
	if len(version) <= longest && isPlain(version) {
		return version
	}
	return "version-" + hash.Text(hash.Of(version))
}

// Name returns the name of the annotation of a path, and whether it has the whole path.
// If not, it has the beginning of the path and a digest. The label is that of the version.
func Name(label string, path Path) (name string, simple bool) {
	var room [len(StatusPrefix) + maxName]byte
	text, simple := appendName(room[:0], label, path)
	return string(text), simple
}

func appendName(dst []byte, label string, path Path) (name []byte, simple bool) {
	prefix := Prefix
	if len(path) > 0 && path[0].Name == "status" {
		prefix = StatusPrefix
	}
	name = append(append(dst, prefix...), label...)
	first, start := len(name), len(dst)+len(prefix)
	for _, s := range path {
		if simple = s.Keys == nil && isPlain(s.Name) && len(name)-start+1+len(s.Name) <= maxName; !simple {
			break
		}
		name = append(append(name, '.'), s.Name...)
	}
	if simple || len(path) == 0 {
		return name, true
	}
	var room [len(digestMark) + hash.MaxText]byte
	tail := hash.Append(append(room[:0], digestMark...), path.Hash())
	name = name[:first]
	for _, s := range path {
		most := maxName - (len(name) - start) - len(".") - len(tail)
		if before := len(name); most > 0 {
			if name = appendWord(append(name, '.'), s.Name[:min(len(s.Name), most+1)]); len(name) == before+1 || len(name) > before+1+most {
				name = name[:before]
			}
		}
	}
	if len(name) == first {
		name = append(name, ".path"...) // separates the version from the digest
	}
	return append(name, tail...), false
}

// appendWord appends a text with a dash for each run of what is not allowed in the name of an
// annotation, and none at its ends.
func appendWord(dst []byte, text string) []byte {
	start, dash := len(dst), false
	for i := range len(text) {
		if !isAlphanumeric(text[i]) {
			dash = len(dst) > start
			continue
		}
		if dash {
			dst, dash = append(dst, '-'), false
		}
		dst = append(dst, text[i])
	}
	return dst
}

func isAlphanumeric(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
