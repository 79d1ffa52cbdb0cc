package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Against returns notes about kept values in annotations, written under old rules, that new rules
// treat differently, for each pair of versions. It skips values that return as before, and
// Conversions that cannot be used.
//
// A kept value returns as long as its unit shows what it showed when the value was kept: see
// package keep.
func Against(old, now *binding.Set) []finding.Finding {
	var notes []finding.Finding
	for _, k := range old.Kinds {
		switch n := now.Kind(k.CRD.Name); {
		case k.Refused:
		case n != nil && !n.Refused:
			c := &comparison{old: k, now: n}
			c.compare()
			for i, note := range c.notes {
				if !k.Conversion.Has(note.Pos) && !n.Conversion.Has(note.Pos) {
					c.notes[i].For = []string{k.CRD.Name} // it is about a shared rule
				}
			}
			notes = append(notes, c.notes...)
		case n == nil && len(now.Findings) == 0:
			notes = append(notes, finding.Finding{
				Pos: k.Conversion.NamePos, Severity: finding.Note, Code: "kept-no-rules",
				Message: fmt.Sprintf("there are no rules for %s any more: kept values stay in annotations, where nothing reads them", k.CRD.Name),
			})
		}
	}
	return finding.Sort(notes)
}

// A comparison is between the old and the new Conversion of a kind.
type comparison struct {
	old, now *binding.Kind
	notes    []finding.Finding
	parted   map[string][]string // by version that is converted through another hub: places with kept values
}

func (c *comparison) say(pos finding.Position, code, hint, format string, args ...any) {
	c.notes = append(c.notes, finding.Finding{
		Pos: pos, Severity: finding.Note, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...),
	})
}

func (c *comparison) compare() {
	c.parted = map[string][]string{}
	for _, v := range c.old.CRD.Versions {
		was := viewsOf(c.old, v.Name)
		if c.now.CRD.Version(v.Name) == nil {
			c.gone(v, was)
			continue
		}
		is := viewsOf(c.now, v.Name)
		for _, w := range was {
			same := slices.IndexFunc(is, func(i *keptView) bool { return i.to() == w.to() })
			switch {
			case same >= 0:
				c.pair(w, is[same])
			case c.old.Hub.Name != c.now.Hub.Name:
				for _, i := range is {
					c.pair(w, i)
				}
			}
		}
	}
	c.hub()
	c.fresh()
}

// viewsOf returns a view of a version for each version that it is converted to directly.
func viewsOf(k *binding.Kind, version string) []*keptView {
	var views []*keptView
	for _, s := range k.Spokes {
		for side, name := range s.Names {
			if name == version && !s.Unsure {
				views = append(views, keptViewOf(s, binding.Side(side)))
			}
		}
	}
	return views
}

// gone reports a version that the CRD does not have any more.
func (c *comparison) gone(v *crdschema.Version, was []*keptView) {
	var places []string
	for _, w := range was {
		places = append(places, w.losing()...)
	}
	if len(places) == 0 {
		return
	}
	become := "stay in annotations, where nothing reads them"
	if (keep.Versions{All: c.now.CRD.VersionNames()}).Gone(v.Name) {
		become = "are removed by the next write of each object"
	}
	c.say(c.now.Conversion.NamePos, "kept-version-gone", "what only "+v.Name+" could say is lost with it: move it to a field of another version first",
		"%s is gone: its kept values %s (%s)", v.Name, become, few(places))
}

// hub reports places that are converted through another hub.
func (c *comparison) hub() {
	was, is := c.old.Hub.Name, c.now.Hub.Name
	for _, version := range c.old.CRD.VersionNames() {
		if places := c.parted[version]; len(places) > 0 {
			others := ""
			if version == was && len(c.old.Spokes) > 1 {
				others = ", and versions that were converted through " + was + " no longer show it"
			}
			c.say(c.now.Conversion.HubPos, "kept-hub", c.save(version),
				"%s of %s: the hub is %s now, and was %s: kept values count only as long as %s gives what %s gave%s",
				few(places), version, is, was, is, was, others)
		}
	}
}

// fresh reports versions that the CRD did not have.
func (c *comparison) fresh() {
	var others []string
	for _, name := range c.old.CRD.VersionNames() {
		if c.now.CRD.Version(name) != nil {
			others = append(others, name)
		}
	}
	for _, v := range c.now.CRD.Versions {
		if c.old.CRD.Version(v.Name) != nil || len(others) == 0 {
			continue
		}
		c.say(versionPos(c.now.Conversion, v.Name), "kept-version-new", "",
			"%s is new: kept values of %s pass through it, and return as before", v.Name, strings.Join(others, ", "))
	}
}

// versionPos returns where a file names a version.
func versionPos(c *syntax.Conversion, name string) finding.Position {
	if v := c.Version(name); v != nil {
		return v.Pos
	}
	if name == c.Hub {
		return c.HubPos
	}
	return c.NamePos
}

// losing returns the places whose values may be kept, without those that are in another one.
func (v *keptView) losing() []string {
	var found []*keptPlace
	for _, p := range v.places {
		if p.loses && p.Kind != Presence && !slices.ContainsFunc(found, func(q *keptPlace) bool { return binding.Within(p.segments, q.segments) }) {
			found = append(found, p)
		}
	}
	paths := make([]string, 0, len(found))
	for _, p := range found {
		paths = append(paths, p.Path)
	}
	return paths
}

// few lists some paths, each once.
func few(paths []string) string {
	return finding.Few(slices.Compact(slices.Sorted(slices.Values(paths))), 5)
}

// save returns a hint: written back under the new rules, a version has its kept values.
func (c *comparison) save(version string) string {
	return fmt.Sprintf("save the objects at %s while the old rules are in use, and write them back under the new ones: "+
		"%s -o yaml > saved.yaml, then kubectl replace -f saved.yaml", version, c.get(version))
}

// get returns the command that reads all objects at a version.
func (c *comparison) get(version string) string {
	crd := c.now.CRD
	all := ""
	if crd.Namespaced {
		all = " -A"
	}
	return fmt.Sprintf("kubectl get %s.%s.%s%s", crd.Plural, version, crd.Group, all)
}
