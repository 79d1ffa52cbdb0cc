package keep

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Annotations with these prefixes belong to webhookd. What is kept of status has a prefix of its own, so that a policy can tell
// who may write it.
const (
	Prefix       = "conversion.webhookd.io/"
	StatusPrefix = "status." + Prefix
)

// IsOwn is true of the names of annotations and labels that belong to webhookd.
func IsOwn(name string) bool {
	return strings.HasPrefix(name, Prefix) || strings.HasPrefix(name, StatusPrefix)
}

// VersionOf returns the version that an annotation keeps values of, and whether it keeps any.
func VersionOf(name string) (version string, own bool) {
	version, _, own = splitName(name)
	return version, own
}

// splitName returns what the name of an annotation says behind its prefix: a version, and a path or a digest.
func splitName(name string) (version, rest string, own bool) {
	version, rest, _ = strings.Cut(name[strings.IndexByte(name, '/')+1:], ".")
	return version, rest, IsOwn(name)
}

// MayBeIn is true of all texts of annotations with names that belong to webhookd. It spares most objects the listing of theirs,
// one of which is kubectl's copy of the object. Obscured says that letters or dots in the text may be spelt as escapes.
func MayBeIn(annotations []byte, obscured bool) bool {
	return obscured || bytes.Contains(annotations, []byte("webhookd.io"))
}

// Versions are those of a conversion.
type Versions struct {
	From, To string
	// All are the versions of the kind.
	All []string
}

// Take removes from obj the annotations that belong to the conversion and returns what was kept of the version that obj is
// converted to. Those of the version that it comes from go as well: they are made anew. Those of other versions stay, but for
// those of versions that the kind has no more. An annotation that does not read as one of webhookd's stays. Memory is used to read
// them.
func Take(obj *jsondoc.Object, v Versions, memory *jsondoc.Document) ([]*Entry, error) {
	text, obscured, err := obj.NestedText("metadata", "annotations")
	if err != nil || !MayBeIn(text, obscured) {
		return nil, err
	}
	meta, err := obj.Member("metadata")
	if err != nil {
		return nil, err
	}
	annotations, err := meta.Member("annotations")
	if err != nil || annotations.Kind() != jsondoc.Map {
		return nil, err
	}
	var kept []*Entry
	left := 0
	err = annotations.Filter(func(name []byte, m jsondoc.Member) bool {
		entries, goes := v.read(string(name), m, memory)
		kept = append(kept, entries...)
		if !goes {
			left++
		}
		return !goes
	})
	if err == nil && left == 0 && !annotations.Untouched() {
		err = meta.RemoveMember("annotations")
	}
	return kept, err
}

// read returns what an annotation keeps for the conversion, and whether it goes.
func (v Versions) read(name string, m jsondoc.Member, memory *jsondoc.Document) (entries []*Entry, goes bool) {
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
	entries, ok := parseAnnotation(name, of, []byte(jsondoc.Unquote(text)), memory)
	if !ok || of != label(v.To) {
		return nil, ok
	}
	return entries, true
}

// kubeVersion is what versions of Kubernetes look like whose age can be told.
var kubeVersion = regexp.MustCompile(`^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$`)

// Gone reports whether annotations of a version go: it was one of the kind, since it is older than all that there are. One that
// is newer may be known to others.
func (v Versions) Gone(of string) bool {
	age, told := ageOf(of)
	return told && len(v.All) > 0 && !slices.ContainsFunc(v.All, func(known string) bool {
		other, told := ageOf(known)
		return !told || slices.Compare(age[:], other[:]) >= 0
	})
}

// ageOf returns what versions are ordered by: the major version, then alpha before beta before none, then the minor one. It is
// not the priority of Kubernetes, by which v2alpha1 comes before v1.
func ageOf(version string) (age [3]int, told bool) {
	parts := kubeVersion.FindStringSubmatch(version)
	if parts == nil {
		return age, false
	}
	major, err := strconv.Atoi(parts[1])
	minor, errMinor := strconv.Atoi("0" + parts[3])
	stage := map[string]int{"alpha": 0, "beta": 1, "": 2}[parts[2]]
	return [3]int{major, stage, minor}, err == nil && errMinor == nil
}

// parseAnnotation returns what an annotation keeps, and whether it is one of this format.
func parseAnnotation(name, of string, text []byte, memory *jsondoc.Document) ([]*Entry, bool) {
	if len(name) > len(StatusPrefix)+maxName {
		return nil, false
	}
	o, err := memory.Parse(text)
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

// pathOf returns the path that an annotation is about: its name says it, or else its text does. It must be the name that webhookd
// would give it.
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
	named, simple := annotationName(of, path)
	return path, len(path) > 0 && named == name && simple == (said == nil)
}

// maxName bounds the name of an annotation behind its prefix (k8s.io/apimachinery/pkg/util/validation.IsQualifiedName).
const maxName = 63

// unplain is what may not stand in the name of an annotation.
var unplain = regexp.MustCompile(`[^A-Za-z0-9]+`)

// digestMark stands before the digest of a path that the name does not say.
const digestMark = "--"

// isPlain is true of the names of members that may stand in the name of an annotation.
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

// label returns what stands for a version in the name of an annotation: the version itself, unless it is too long for that.
func label(version string) string {
	const longest = 24
	if len(version) <= longest && isPlain(version) {
		return version
	}
	return "version-" + digestString(hash(version))
}

// annotationName returns the name of the annotation of a path, and whether it says the path. If not, it has the beginning of the
// path and a digest.
func annotationName(label string, path Path) (name string, simple bool) {
	prefix := Prefix
	if len(path) > 0 && path[0].Name == "status" {
		prefix = StatusPrefix
	}
	name, simple = label, true
	for _, s := range path {
		if simple = s.Keys == nil && isPlain(s.Name) && len(name)+1+len(s.Name) <= maxName; !simple {
			break
		}
		name += "." + s.Name
	}
	if simple {
		return prefix + name, true
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
		name += ".path" // or the version could not be told from the rest
	}
	return prefix + name + tail, false
}
