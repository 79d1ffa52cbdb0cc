package keep

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
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

// Versions are the versions of a conversion.
type Versions struct {
	From, To string
	// All are all versions of the kind.
	All []string
}

// Take removes from obj the annotations that belong to the conversion, and returns the entries of
// the version that obj is converted to. It also removes annotations of the version that obj comes
// from, which are made again, and of versions that the kind no longer has. Other versions'
// annotations stay, and so do annotations in an unknown format. The entries are valid until the
// memory is reset.
func Take(obj *jsondoc.Object, v Versions, memory *Memory) ([]*Entry, error) {
	text, obscured, err := obj.NestedText("metadata", "annotations")
	if err != nil || !MayBeIn(text, obscured) {
		return nil, err
	}
	annotations, err := obj.Get("metadata", "annotations")
	if err != nil || annotations.Kind() != jsondoc.Map {
		return nil, err
	}
	var kept []*Entry
	left, r := 0, memory.reading()
	err = annotations.Filter(func(name []byte, m jsondoc.Member) bool {
		if !IsOwn(name) {
			left++
			return true
		}
		goes := false
		if kept, goes = v.read(kept, string(name), m, r); !goes {
			left++
		}
		return !goes
	})
	if err == nil && left == 0 && !annotations.Untouched() {
		err = obj.Remove("metadata", "annotations")
	}
	return kept, err
}

// read appends the entries of an annotation to kept, and reports whether the annotation goes.
func (v Versions) read(kept []*Entry, name string, m jsondoc.Member, r *reader) (all []*Entry, goes bool) {
	of, _, _ := splitName(name)
	if of != label(v.From) && of != label(v.To) && !v.Gone(of) {
		return kept, false
	}
	text := m.Value().Text()
	if len(text) == 0 || text[0] != '"' {
		return kept, false
	}
	if all, goes = r.annotation(kept, name, of, text); of != label(v.To) {
		all = kept
	}
	return all, goes
}

// kubeVersion matches versions with a known age.
var kubeVersion = regexp.MustCompile(`^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$`)

// Gone reports whether a version is older than all versions of the kind, so that its annotations
// are leftovers. Others may know one that is newer.
func (v Versions) Gone(of string) bool {
	age, known := ageOf(of)
	return known && len(v.All) > 0 && !slices.ContainsFunc(v.All, func(version string) bool {
		other, known := ageOf(version)
		return !known || slices.Compare(age[:], other[:]) >= 0
	})
}

// ageOf returns the age of a version: the major version, then alpha before beta before stable, then
// the minor version. By Kubernetes' own priority v2alpha1 would be before v1.
func ageOf(version string) (age [3]int, known bool) {
	parts := kubeVersion.FindStringSubmatch(version)
	if parts == nil {
		return age, false
	}
	major, err := strconv.Atoi(parts[1])
	minor, errMinor := strconv.Atoi("0" + parts[3])
	stage := map[string]int{"alpha": 0, "beta": 1, "": 2}[parts[2]]
	return [3]int{major, stage, minor}, err == nil && errMinor == nil
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
	return "version-" + digestString(hash(version))
}

// AnnotationName returns the name of the annotation of a path, and whether it has the whole path.
// If not, it has the beginning of the path and a digest. The label is that of the version.
func AnnotationName(label string, path Path) (name string, simple bool) {
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
	var room [len(digestMark) + maxDigest]byte
	tail := strconv.AppendUint(append(room[:0], digestMark...), path.hash(), digestBase)
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

// IsStored reports whether an object may be one that the API server has stored, and which so has
// all defaults. Fragments are not: in server-side apply their manager would come to own the
// defaults.
func IsStored(obj *jsondoc.Object) bool {
	uid, _, err := obj.NestedText("metadata", "uid")
	return err == nil && len(uid) > len(`""`) && uid[0] == '"'
}
