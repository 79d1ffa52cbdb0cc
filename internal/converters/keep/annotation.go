package keep

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
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
// annotations stay, and so do annotations in an unknown format. Scratch is the memory of the
// entries.
func Take(obj *jsondoc.Object, v Versions, scratch *jsondoc.Document) ([]*Entry, error) {
	text, obscured, err := obj.NestedText("metadata", "annotations")
	if err != nil || !MayBeIn(text, obscured) {
		return nil, err
	}
	annotations, err := obj.Get("metadata", "annotations")
	if err != nil || annotations.Kind() != jsondoc.Map {
		return nil, err
	}
	var kept []*Entry
	left := 0
	err = annotations.Filter(func(name []byte, m jsondoc.Member) bool {
		entries, goes := v.read(string(name), m, scratch)
		kept = append(kept, entries...)
		if !goes {
			left++
		}
		return !goes
	})
	if err == nil && left == 0 && !annotations.Untouched() {
		err = obj.Remove("metadata", "annotations")
	}
	return kept, err
}

// read returns the entries of an annotation, and whether the annotation goes.
func (v Versions) read(name string, m jsondoc.Member, scratch *jsondoc.Document) (entries []*Entry, goes bool) {
	of, _, own := splitName(name)
	if !own {
		return nil, false
	}
	if of != label(v.From) && of != label(v.To) && !v.Gone(of) {
		return nil, false
	}
	text := m.Value().Text()
	if len(text) == 0 || text[0] != '"' {
		return nil, false
	}
	entries, ok := parseAnnotation(name, of, []byte(jsondoc.Unquote(text)), scratch)
	if !ok || of != label(v.To) {
		return nil, ok
	}
	return entries, true
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

// parseAnnotation returns the entries of an annotation, and whether it has this format.
func parseAnnotation(name, of string, text []byte, scratch *jsondoc.Document) ([]*Entry, bool) {
	if len(name) > len(StatusPrefix)+maxName {
		return nil, false
	}
	o, err := scratch.Parse(text)
	if err != nil {
		return nil, false
	}
	path, ok := pathOf(name, of, o)
	if !ok {
		return nil, false
	}
	parts, err := o.Member("parts")
	if err != nil {
		return nil, false
	}
	if parts != nil {
		return parseEntries(parts, path, 0)
	}
	e, ok := parseEntry(o.Node, path, true, 0)
	return []*Entry{e}, ok
}

// pathOf returns the path of an annotation, from its name or else from its text. The name must be
// the one that webhookd gives to that path.
func pathOf(name, of string, o *jsondoc.Object) (Path, bool) {
	var path Path
	said, err := o.Member("path")
	if err != nil {
		return nil, false
	}
	if said != nil {
		var ok bool
		if path, ok = parsePath(said); !ok {
			return nil, false
		}
	} else {
		_, rest, _ := splitName(name)
		path = Names(strings.Split(rest, ".")...)
	}
	named, simple := AnnotationName(of, path)
	return path, len(path) > 0 && named == name && simple == (said == nil)
}

// maxName limits the name behind the prefix
// (k8s.io/apimachinery/pkg/util/validation.IsQualifiedName).
const maxName = 63

// unplain matches characters that are not allowed in the name of an annotation.
var unplain = regexp.MustCompile(`[^A-Za-z0-9]+`)

// digestMark precedes the digest of a path that does not fit into the name.
const digestMark = "--"

// isPlain reports whether a member's name may be part of an annotation's name.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c != '_' && c != '-' || i == 0 || i == len(name)-1) {
			return false
		}
	}
	return name != "" && !strings.Contains(name, digestMark)
}

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
	prefix := Prefix
	if len(path) > 0 && path[0].Name == "status" {
		prefix = StatusPrefix
	}
	var room [len(StatusPrefix) + maxName]byte
	whole := append(append(room[:0], prefix...), label...)
	for _, s := range path {
		if simple = s.Keys == nil && isPlain(s.Name) && len(whole)-len(prefix)+1+len(s.Name) <= maxName; !simple {
			break
		}
		whole = append(append(whole, '.'), s.Name...)
	}
	if simple || len(path) == 0 {
		return string(whole), true
	}
	tail := digestMark + digestString(hash(string(path.appendJSON(nil))))
	name = label
	for _, s := range path {
		most := maxName - len(name) - len(".") - len(tail)
		if word := strings.Trim(unplain.ReplaceAllString(s.Name[:min(len(s.Name), most+1)], "-"), "-"); word != "" && len(word) <= most {
			name += "." + word
		}
	}
	if name == label {
		name += ".path" // separates the version from the digest
	}
	return prefix + name + tail, false
}
