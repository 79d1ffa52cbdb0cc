package annotation

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

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
	left := 0
	err = annotations.Filter(func(name []byte, m jsondoc.Member) bool {
		if !IsOwn(name) {
			left++
			return true
		}
		goes := false
		if kept, goes = v.read(kept, string(name), m, memory); !goes {
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
func (v Versions) read(kept []*Entry, name string, m jsondoc.Member, r *Memory) (all []*Entry, goes bool) {
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
