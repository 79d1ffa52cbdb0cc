package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Against returns notes about kept values in annotations, written under old rules, that new rules
// treat differently, for each pair of versions, and warns of versions that clients knew otherwise.
// It skips values that return as before, and Conversions that cannot be used.
//
// A kept value returns as long as its inputs show what they showed when it was kept: see package
// keep. So only the places that old and new rules read are compared.
func Against(old, now *binding.Set) []finding.Finding {
	var notes []finding.Finding
	for _, k := range old.Kinds {
		c := &comparison{old: k, now: now.Kind(k.CRD.Name)}
		switch {
		case k.Refused || c.now != nil && c.now.Refused:
		case c.now != nil:
			c.compare()
			c.transition()
			c.broken()
		case len(now.Findings) == 0:
			c.say(k.Conversion.NamePos, "kept-no-rules", "",
				"there are no rules for %s any more: kept values stay in annotations, where nothing reads them", k.CRD.Name)
		}
		notes = append(notes, c.notes...)
	}
	return finding.Sort(notes)
}

// A comparison is between the old and the new Conversion of a kind.
type comparison struct {
	old, now *binding.Kind
	notes    []finding.Finding
}

func (c *comparison) say(pos finding.Position, code, hint, format string, args ...any) {
	note := finding.Finding{Pos: pos, Severity: finding.Note, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)}
	if !c.old.Conversion.Has(pos) && c.now != nil && !c.now.Conversion.Has(pos) {
		note.For = []string{c.old.CRD.Name} // it is about a shared rule
	}
	c.notes = append(c.notes, note)
}

func (c *comparison) compare() {
	var left []string
	for _, v := range c.old.CRD.VersionNames() {
		was, is := viewsOf(c.old, v), viewsOf(c.now, v)
		if c.now.CRD.Version(v) == nil {
			c.gone(v, was)
			continue
		}
		left = append(left, v)
		for _, w := range was {
			for _, i := range is {
				same := slices.ContainsFunc(is, func(i *keptView) bool { return i.to == w.to })
				if i.to == w.to || !same && c.old.Hub.Name != c.now.Hub.Name {
					c.pair(w, i)
				}
			}
		}
	}
	for _, v := range c.now.CRD.VersionNames() {
		if c.old.CRD.Version(v) == nil && len(left) > 0 {
			c.say(versionPos(c.now.Conversion, v), "kept-version-new", "",
				"%s is new: kept values of %s pass through it, and return as before", v, strings.Join(left, ", "))
		}
	}
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

// gone reports the kept values of a version that the CRD does not have any more.
func (c *comparison) gone(version string, was []*keptView) {
	v := verdict{
		pos: c.now.Conversion.NamePos, code: "kept-version-gone", text: version + " is gone: kept values stay in annotations, where nothing reads them",
		hint: "what only " + version + " could say is lost with it: move it to a field of another version first",
	}
	if (annotation.Versions{All: c.now.CRD.VersionNames()}).Gone(version) {
		v.text = version + " is gone: kept values are removed by the next write of each object"
	}
	for _, w := range was {
		for _, p := range w.places {
			if p.loses && p.Kind != Presence {
				p.verdict = v
			}
		}
		c.report(w)
	}
}

// transition reports rules that differ, which some replicas have before others if they restart.
func (c *comparison) transition() {
	if c.old.Conversion.Hub != c.now.Conversion.Hub {
		return
	}
	changed, gone := c.now.Conversion.Changed(c.old.Conversion)
	for _, r := range changed {
		if !r.Transitional && !r.OnlyKeeps() {
			c.say(r.Pos, "transitional", "if replicas restart to get rules, add transitional: true for one rollout, and keep the old rules of its places until then",
				"%s is not in the old rules: while some replicas do not have it, writes may delete what it converts", r)
		}
	}
	for _, r := range gone {
		if r.OnlyKeeps() {
			continue
		}
		c.say(c.now.Conversion.NamePos, "transitional", "if replicas restart to get rules, keep it for one rollout, with a transitional rule for each of its places",
			"%s of the old rules is gone: while some replicas have it, writes may delete what it converts", r)
	}
}

// broken warns of served versions whose schema takes from clients what they could write: that is a
// change for a new version.
func (c *comparison) broken() {
	for _, was := range c.old.CRD.Versions {
		is := c.now.CRD.Version(was.Name)
		if is == nil || !was.Served || !is.Served {
			continue
		}
		found := map[string][]string{}
		brokenBelow(found, "", was.Root, is.Root)
		for _, what := range slices.Sorted(maps.Keys(found)) {
			c.say(versionPos(c.now.Conversion, was.Name), "version-broken", "leave "+was.Name+" as it was, and change a new version",
				"%s breaks its clients: %s: %s", was.Name, what, finding.Few(found[what], maxMembers))
			c.notes[len(c.notes)-1].Severity = finding.Warning
		}
	}
}

// brokenBelow adds the places where a schema takes less than it did, or means something else, by
// what has changed.
func brokenBelow(found map[string][]string, path string, was, is *crdschema.Node) {
	add := func(what, path string) { found[what] = append(found[what], path) }
	taken := func(value string) bool { return transform.Admits(is, []byte(value)) }
	before, had := was.Default()
	now, has := is.Default()
	switch {
	case was == nil || is.Kind() == crdschema.Any:
		return
	case was.Kind() != is.Kind():
		add("other types", path)
		return
	case len(is.Enum()) > 0 && (len(was.Enum()) == 0 || slices.ContainsFunc(was.Enum(), func(v string) bool { return !taken(v) })):
		add("fewer values", path)
	}
	if had != has || before != now {
		add("other defaults", path)
	}
	for _, name := range is.Required() {
		if !was.IsRequired(name) {
			add("newly required", path+"."+name)
		}
	}
	for _, name := range was.Properties() {
		switch p := is.Property(name); {
		case p != nil:
			brokenBelow(found, path+"."+name, was.Property(name), p)
		case !is.PreservesUnknown():
			add("fields that are gone", path+"."+name)
		}
	}
	brokenBelow(found, path+"[]", was.Items(), is.Items())
	brokenBelow(found, path+"{}", was.Values(), is.Values())
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

// save returns a hint: written back under the new rules, a version has its kept values.
func (c *comparison) save(version string) string {
	return fmt.Sprintf("save the objects at %s while the old rules are in use, and write them back under the new ones: "+
		"%s -o yaml > saved.yaml, then kubectl replace -f saved.yaml", version, c.get(version))
}

// get returns the command that reads all objects at a version.
func (c *comparison) get(version string) string {
	crd, all := c.now.CRD, ""
	if crd.Namespaced {
		all = " -A"
	}
	return fmt.Sprintf("kubectl get %s.%s.%s%s", crd.Plural, version, crd.Group, all)
}

// A Change is a field that old and new rules convert differently, or a conversion that only one of
// them has, whose Path is empty.
type Change struct {
	CRD, From, To string
	Path          string
	Before, Now   string // what becomes of it; empty if there is none
	Effect        string // what that means for users
}

// Changes returns what old and new rules convert differently, in the order of the old file, then of
// what is new. It compares fields, not whether lists and objects are there.
func Changes(old, now *binding.Set) []Change {
	var changes []Change
	before, after := directionsOf(old), directionsOf(now)
	for _, d := range before {
		if i := slices.IndexFunc(after, d.isLike); i >= 0 {
			changes = append(changes, changesOf(&d, &after[i])...)
		} else {
			changes = append(changes, Change{CRD: d.CRD, From: d.From, To: d.To, Effect: "no longer converted"})
		}
	}
	for _, d := range after {
		if !slices.ContainsFunc(before, d.isLike) {
			changes = append(changes, Change{CRD: d.CRD, From: d.From, To: d.To, Effect: "new conversion"})
		}
	}
	return changes
}

func directionsOf(set *binding.Set) []Direction {
	all := make([]Direction, 0, len(set.Kinds))
	for _, k := range set.Kinds {
		all = append(all, Explain(k)...)
	}
	return all
}

func (d *Direction) isLike(o Direction) bool {
	return d.CRD == o.CRD && d.From == o.From && d.To == o.To
}

// changesOf compares the values of two directions of the same versions.
func changesOf(before, now *Direction) []Change {
	was, is := before.values(), now.values()
	var changes []Change
	done := map[string]bool{}
	for _, a := range slices.Concat(before.Atoms, now.Atoms) {
		b, n := was[a.Path], is[a.Path]
		if a.Kind != Value || done[a.Path] {
			continue
		}
		done[a.Path] = true
		if e := effect(b, n); e != "" {
			changes = append(changes, Change{before.CRD, before.From, before.To, a.Path, b.becomes(), n.becomes(), e})
		}
	}
	return changes
}

// values returns the atoms that are values, by path.
func (d *Direction) values() map[string]*Atom {
	all := make(map[string]*Atom, len(d.Atoms))
	for i := range d.Atoms {
		if d.Atoms[i].Kind == Value {
			all[d.Atoms[i].Path] = &d.Atoms[i]
		}
	}
	return all
}

// becomes says what becomes of a field, which may be nil.
func (a *Atom) becomes() string {
	switch {
	case a == nil:
		return ""
	case a.Class == Mapped && a.To != "" && a.To != a.Path:
		return "to " + a.To
	case a.Class == Dropped && a.Reason != "":
		return "dropped: " + a.Reason
	}
	return string(a.Class)
}

// effect returns what the change of a field means for users, or "" if there is none. Either may be
// nil.
func effect(before, now *Atom) string {
	lost := func(a *Atom) bool { return a.Class == Dropped || a.Class == Unmapped }
	switch {
	case before == nil:
		return "new field"
	case now == nil:
		return "field is gone"
	case lost(before) && lost(now):
		return ""
	case lost(now):
		return "lost from now on"
	case lost(before):
		return "no longer lost"
	case before.Class != Preserved && now.Class == Preserved:
		return "kept in an annotation from now on"
	case before.Class == Preserved && now.Class != Preserved:
		return "no longer kept in an annotation"
	case before.To != now.To:
		return "converted to another place"
	case now.Class == Mapped && before.rules() != now.rules():
		return "converted by a rule that has changed"
	}
	return ""
}

// rules returns what the rules of an atom say, wherever they are in their file.
func (a *Atom) rules() string {
	var b strings.Builder
	for _, r := range a.made.rules() {
		b.WriteString(r.Says())
	}
	return b.String()
}
