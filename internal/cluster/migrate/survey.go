package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A Survey says what the metadata of objects names of versions.
type Survey struct {
	Objects int
	// Managers are the entries of metadata.managedFields, by version.
	Managers map[string]map[Manager]*Use
	// Leftovers are the values in annotations and labels of webhookd, by the label of the version
	// in them.
	Leftovers map[string]*Leftover
}

// A Leftover counts the values that are kept of a version.
type Leftover struct {
	Values map[string]int // by field
	object *object        // one that has some
}

// list counts the values by field, and shows none.
func (l *Leftover) list() string {
	const most = 20
	if len(l.Values) == 0 {
		return "no values"
	}
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(l.Values)) {
		fields = append(fields, fmt.Sprintf("%d of %s", l.Values[field], field))
	}
	return finding.Few(fields, most)
}

// A Manager is a client that writes objects.
type Manager struct {
	Name  string
	Apply bool // by server-side apply
}

// A Use says how a manager uses a version.
type Use struct {
	Objects int
	Last    time.Time // zero if not known
	// Lost are fields that the manager no longer owns once its entries are under the version to
	// store objects in, which lacks them.
	Lost map[string]bool
}

func newSurvey() *Survey {
	return &Survey{Managers: map[string]map[Manager]*Use{}, Leftovers: map[string]*Leftover{}}
}

// strays are the versions in managedFields that have to go.
func (y *Survey) strays(s *State, g *Goal) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(y.Managers)), func(v string) bool { return !s.strays(g, v) })
}

// leftovers are the versions of annotations that are of no use.
func (y *Survey) leftovers(s *State, g *Goal) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(y.Leftovers)), func(v string) bool { return !s.leftover(g, v) })
}

// An object is the metadata of one.
type object struct {
	Metadata struct {
		Namespace       string                      `json:"namespace"`
		Name            string                      `json:"name"`
		UID             types.UID                   `json:"uid"`
		ResourceVersion string                      `json:"resourceVersion"`
		Annotations     map[string]string           `json:"annotations"`
		Labels          map[string]string           `json:"labels"`
		ManagedFields   []metav1.ManagedFieldsEntry `json:"managedFields"`
	} `json:"metadata"`
}

func parse(text []byte) (*object, error) {
	o := &object{}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, fmt.Errorf("API server: cannot read an object: %w", err)
	}
	return o, nil
}

func (o *object) name() string {
	return strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
}

// add counts an object of a group. The function, which may be nil, returns the fields of an entry
// that get lost.
func (y *Survey) add(group string, o *object, lost func(version string, e *metav1.ManagedFieldsEntry) []string) {
	y.Objects++
	seen := map[string]map[Manager]bool{}
	for i := range o.Metadata.ManagedFields {
		e := &o.Metadata.ManagedFields[i]
		version, ours := versionOf(group, e)
		if !ours {
			continue
		}
		m := Manager{e.Manager, e.Operation == metav1.ManagedFieldsOperationApply}
		if y.Managers[version] == nil {
			y.Managers[version] = map[Manager]*Use{}
		}
		if seen[version] == nil {
			seen[version] = map[Manager]bool{}
		}
		use := y.Managers[version][m]
		if use == nil {
			use = &Use{Lost: map[string]bool{}}
			y.Managers[version][m] = use
		}
		if !seen[version][m] {
			seen[version][m] = true
			use.Objects++
		}
		if e.Time != nil && e.Time.After(use.Last) {
			use.Last = e.Time.Time
		}
		if lost == nil {
			continue
		}
		for _, path := range lost(version, e) {
			use.Lost[path] = true
		}
	}
	for _, entries := range []map[string]string{o.Metadata.Annotations, o.Metadata.Labels} {
		for name, text := range entries {
			if label, own := annotation.VersionOf(name); own {
				y.leftover(label, o).add(name, text)
			}
		}
	}
}

func (y *Survey) leftover(label string, o *object) *Leftover {
	if y.Leftovers[label] == nil {
		y.Leftovers[label] = &Leftover{map[string]int{}, o}
	}
	return y.Leftovers[label]
}

// add counts the values of an annotation. One that this build cannot read counts by its name.
func (l *Leftover) add(name, text string) {
	kept := annotation.Describe(name, text).Values
	for _, value := range kept {
		if value.Path != ".kind" { // which says what rules there were, and is no value
			l.Values[value.Path]++
		}
	}
	if len(kept) == 0 {
		l.Values[name]++
	}
}

// versionOf returns the version of an entry; false if it is of another group.
func versionOf(group string, e *metav1.ManagedFieldsEntry) (version string, ours bool) {
	of, version, found := strings.Cut(e.APIVersion, "/")
	return version, found && of == group
}

// withoutStrays returns managedFields in which entries of some versions are under another one; nil
// if there are none. A manager that already has an entry there gets one with the fields of both:
// the API server would keep only one of them.
func withoutStrays(entries []metav1.ManagedFieldsEntry, group, to string, stray func(version string) bool) ([]metav1.ManagedFieldsEntry, error) {
	var result []metav1.ManagedFieldsEntry
	changed := false
	for _, e := range entries {
		if version, ours := versionOf(group, &e); ours && stray(version) {
			changed, e.APIVersion = true, group+"/"+to
		}
		same := slices.IndexFunc(result, func(r metav1.ManagedFieldsEntry) bool {
			return r.Manager == e.Manager && r.Operation == e.Operation && r.Subresource == e.Subresource && r.APIVersion == e.APIVersion
		})
		if same < 0 {
			result = append(result, e)
			continue
		}
		if err := unite(&result[same], &e); err != nil {
			return nil, err
		}
	}
	if !changed {
		return nil, nil
	}
	return result, nil
}

// unite adds the fields of an entry to another one.
func unite(into, e *metav1.ManagedFieldsEntry) error {
	union := &fieldpath.Set{}
	for _, entry := range []*metav1.ManagedFieldsEntry{into, e} {
		if entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return fmt.Errorf("managedFields that cannot be read: %w", err)
		}
		union = union.Union(set)
	}
	text, err := union.ToJSON()
	if err != nil {
		return fmt.Errorf("managedFields that cannot be written: %w", err)
	}
	into.FieldsV1 = metav1.NewFieldsV1(string(text))
	if e.Time != nil && (into.Time == nil || into.Time.Before(e.Time)) {
		into.Time = e.Time
	}
	return nil
}
