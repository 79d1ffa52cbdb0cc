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

// Against returns notes about values that conversions by old rules have kept in annotations, and that mean something else to other
// rules of now: for each pair of versions. Of those that return as before, it says nothing; nor of Conversions that cannot be used.
//
// A value that was kept returns as long as what is shown of its unit is what was shown when it was kept: see package keep.
func Against(old, now *binding.Set) []finding.Finding {
	var notes []finding.Finding
	for _, k := range old.Kinds {
		switch n := now.Kind(k.CRD.Name); {
		case k.Refused:
		case n != nil && !n.Refused:
			c := &comparison{old: k, now: n}
			c.compare()
			notes = append(notes, c.notes...)
		case n == nil && len(now.Findings) == 0:
			notes = append(notes, finding.Finding{
				Pos: k.Conversion.NamePos, Severity: finding.Note, Code: "kept-no-rules",
				Message: fmt.Sprintf("there are no rules for %s any more: what was kept stays in annotations, where nothing reads it", k.CRD.Name),
			})
		}
	}
	return finding.Sort(notes)
}

// A comparison is that of two Conversions of a kind.
type comparison struct {
	old, now *binding.Kind
	notes    []finding.Finding
	parted   map[string][]string // of versions that are converted by way of another hub: places of which values may be kept
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

// viewsOf returns how a version looks beside each version that it is converted to without another one between them.
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

// gone tells of a version that the CRD has no more.
func (c *comparison) gone(v *crdschema.Version, was []*keptView) {
	var places []string
	for _, w := range was {
		places = append(places, w.losing()...)
	}
	if len(places) == 0 {
		return
	}
	becomes := "stays in annotations, where nothing reads it"
	if (keep.Versions{All: versionNames(c.now.CRD)}).Gone(v.Name) {
		becomes = "goes with the next write of each object"
	}
	c.say(c.now.Conversion.NamePos, "kept-version-gone", "what only "+v.Name+" could say is lost with it: move it to a field of another version before",
		"%s is gone: what was kept of it %s (%s)", v.Name, becomes, few(places))
}

// hub tells of what is converted by way of another version.
func (c *comparison) hub() {
	was, is := c.old.Hub.Name, c.now.Hub.Name
	for _, version := range versionNames(c.old.CRD) {
		if places := c.parted[version]; len(places) > 0 {
			others := ""
			if version == was && len(c.old.Spokes) > 1 {
				others = ", and versions that were converted by way of " + was + " no longer show it"
			}
			c.say(c.now.Conversion.HubPos, "kept-hub", c.save(version),
				"%s of %s: the hub is %s now, and was %s: what was kept counts only as long as %s gives what %s gave%s",
				few(places), version, is, was, is, was, others)
		}
	}
}

// fresh tells of versions that the CRD did not have.
func (c *comparison) fresh() {
	var others []string
	for _, name := range versionNames(c.old.CRD) {
		if c.now.CRD.Version(name) != nil {
			others = append(others, name)
		}
	}
	for _, v := range c.now.CRD.Versions {
		if c.old.CRD.Version(v.Name) != nil || len(others) == 0 {
			continue
		}
		c.say(versionPos(c.now.Conversion, v.Name), "kept-version-new", "",
			"%s is new: what was kept of %s passes through it, and returns as before", v.Name, strings.Join(others, ", "))
	}
}

func versionNames(crd *crdschema.CRD) []string {
	names := make([]string, 0, len(crd.Versions))
	for _, v := range crd.Versions {
		names = append(names, v.Name)
	}
	return names
}

// versionPos returns where a file speaks of a version.
func versionPos(c *syntax.Conversion, name string) finding.Position {
	if v := c.Version(name); v != nil {
		return v.Pos
	}
	if name == c.Hub {
		return c.HubPos
	}
	return c.NamePos
}

// losing returns the places of which values may be kept, without those that are in another one.
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

// few writes some of the texts.
func few(texts []string) string {
	const most = 5
	texts = slices.Compact(slices.Sorted(slices.Values(texts)))
	if len(texts) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
	}
	return strings.Join(texts, ", ")
}

// save is the advice to have a version say itself what was kept of it.
func (c *comparison) save(version string) string {
	return fmt.Sprintf("save what %s has while the old rules are in use, and write it back under the new ones: %s -o yaml > saved.yaml, then kubectl replace -f saved.yaml",
		version, c.get(version))
}

// get is the command that reads all objects at a version.
func (c *comparison) get(version string) string {
	crd := c.now.CRD
	all := ""
	if crd.Namespaced {
		all = " -A"
	}
	return fmt.Sprintf("kubectl get %s.%s.%s%s", crd.Plural, version, crd.Group, all)
}
