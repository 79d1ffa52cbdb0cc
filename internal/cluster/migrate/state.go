package migrate

import (
	"slices"
	"time"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// A Goal is what a run is for.
type Goal struct {
	// To is the version to store all objects in.
	To string
	// Remove are the versions that go.
	Remove []string
	// AllowNone goes on although a CRD without a webhook has versions with different schemas.
	AllowNone bool
}

// A State is what is observed of a CRD and its objects.
type State struct {
	Deleting    bool
	Versions    []Version
	Stored      []string // status.storedVersions
	Unconverted bool     // strategy None, and the schemas of the versions differ
	// Definition is the XRD of which Crossplane makes the CRD; empty if it does not. Crossplane
	// reverts changes of spec.versions that the XRD does not have.
	Definition string
	// SettledAt is the time from which every API server knows this generation, and no request that
	// began before it goes on. It is zero once all of this has been seen.
	SettledAt time.Time
	// Rewritten says that every object was written after this generation had settled.
	Rewritten bool
	// Survey is of the objects at this generation; nil if they were not listed.
	Survey *Survey
}

// A Version is one of spec.versions.
type Version struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
}

func (s *State) settled() bool { return s.SettledAt.IsZero() }

// inSpec returns where a change of spec.versions belongs, and the member there for storage.
func (s *State) inSpec() (where, storage string) {
	if s.Definition != "" {
		return "spec.versions of the XRD " + s.Definition, "referenceable"
	}
	return "spec.versions", "storage"
}

func (s *State) names() []string {
	names := make([]string, len(s.Versions))
	for i, v := range s.Versions {
		names[i] = v.Name
	}
	return names
}

func (s *State) has(version string) bool { return slices.Contains(s.names(), version) }

func (s *State) storage() string {
	for _, v := range s.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

func (s *State) isServed(version string) bool {
	return slices.ContainsFunc(s.Versions, func(v Version) bool { return v.Name == version && v.Served })
}

// going are the versions that the CRD still has, and that go.
func (s *State) going(g *Goal) []string {
	return slices.DeleteFunc(slices.Clone(g.Remove), func(version string) bool { return !s.has(version) })
}

// strays reports whether an entry of managedFields at a version has to go: an object that names a
// version which its CRD does not have cannot be applied (kubernetes#111937).
func (s *State) strays(g *Goal, version string) bool {
	return slices.Contains(g.Remove, version) || !s.has(version)
}

// leftover reports whether annotations of a version are of no use: it was removed, or it is older
// than all that there are. The label is that of the version in annotations. Versions that are newer
// may come back, so their annotations stay.
func (s *State) leftover(g *Goal, label string) bool {
	if slices.ContainsFunc(s.names(), func(name string) bool { return annotation.Label(name) == label }) {
		return false
	}
	return slices.ContainsFunc(g.Remove, func(name string) bool { return annotation.Label(name) == label }) ||
		annotation.Versions{All: s.names()}.Gone(label)
}
