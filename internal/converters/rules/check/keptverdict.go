package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A verdict is what becomes of values that were kept of a place. The zero verdict: they return as
// before.
type verdict struct {
	code         string
	pos          finding.Position
	rule         string // of the new rules, or empty
	reason       string // of a rule that drops the place
	joined, left string // places that are in its unit now, or no longer
	changed      string // what else has changed
	filled, was  string // the defaults in the new and the old schema
	holder       string // the object or list around the place, if that decides
	computed     bool   // a rule computes the place from something else than a counterpart
}

const (
	keptReturns = "kept-returns"  // to a place that it did not have
	keptEdited  = "kept-edited"   // it counts as edited
	keptNoPlace = "kept-no-place" // the other version has none any more
	keptDropped = "kept-dropped"
	keptNoField = "kept-no-field" // the version itself does not have it any more
	keptDefault = "kept-default"
	keptParted  = "" // by another hub, which has a note as a whole
)

// pair reports what becomes of kept values of a version next to another one.
func (c *comparison) pair(was, is *keptView) {
	was.addPicked(is)
	verdicts, defaults := map[string]verdict{}, map[string]verdict{}
	for _, p := range was.places {
		n := is.find(p)
		verdicts[p.key] = c.judge(was, is, p, n)
		defaults[p.key] = c.judgeDefault(was, is, p, n)
	}
	c.reportAll(was, is, verdicts)
	c.reportAll(was, is, defaults)
}

// spokePos returns where the new file names the spoke of a view.
func (c *comparison) spokePos(is *keptView) finding.Position {
	return versionPos(c.now.Conversion, is.spoke.Names[binding.OfSpoke])
}

// judge returns what becomes of kept values of a place; n is the place in the new rules, or nil.
func (c *comparison) judge(was, is *keptView, p, n *keptPlace) verdict {
	if !p.loses {
		return verdict{}
	}
	if n == nil {
		return verdict{code: keptNoField, pos: versionPos(c.now.Conversion, is.from())}
	}
	if v := c.judgeAlone(was, is, p, n); v != (verdict{}) || was.to() != is.to() {
		return v
	}
	return c.judgeHolders(was, is, p)
}

// judgeAlone is judge by the place itself.
func (c *comparison) judgeAlone(was, is *keptView, p, n *keptPlace) verdict {
	v := verdict{pos: c.spokePos(is)}
	if r := cmp.Or(n.made.rule, n.made.via); r != nil {
		v.pos, v.rule = r.Pos, r.String()
	}
	// The other version showed nothing next to the kept value: it had no place for it, or did not
	// take it.
	bare := !p.united && (p.Class == Preserved || p.Class == Unmapped) && len(p.made.by) == 0
	shown := n.united || !n.made.alone // it may show something now
	switch {
	case n.Class == Dropped:
		v.code, v.reason = keptDropped, n.Reason
		return v
	case bare && !shown:
		return verdict{}
	case !p.made.alone && n.made.alone && p.Class == Preserved && len(p.made.by) > 0:
		v.code, v.changed = keptEdited, "no rule computes it any more"
		return v
	case !p.made.alone && n.made.alone:
		v.code, v.changed = keptNoPlace, p.place()
		return v
	case was.to() == is.to():
		v.compare(is, p, n)
	case !bare:
		c.parted[was.from()] = append(c.parted[was.from()], p.Path)
		return verdict{}
	}
	differs := v.joined+v.left+v.changed != ""
	switch {
	case bare && !n.made.alone && (p.made.alone || was.to() != is.to() || differs):
		v.code, v.joined, v.left, v.changed = keptReturns, "", "", ""
		v.computed = n.Class == Preserved && len(n.made.by) > 0
	case differs:
		v.code = keptEdited
	default:
		return verdict{}
	}
	return v
}

// judgeHolders is judge by the objects and lists around the place, which may be shown differently.
// Values kept in an object return if it is there, and those in an element if it is the same one.
func (c *comparison) judgeHolders(was, is *keptView, p *keptPlace) verdict {
	v := verdict{code: keptEdited, pos: c.spokePos(is)}
	for i := range p.segments {
		holder := was.at[keyOf(p.segments[:i])]
		if holder == nil || holder.Kind != Presence {
			continue
		}
		n := is.find(holder)
		switch {
		case !holder.made.alone && (n == nil || n.made.alone):
			v.code, v.holder, v.changed = keptNoPlace, holder.Path, holder.place()
			return v
		case n == nil || binding.IsMap(p.segments[i]) || p.segments[i].Kind == syntax.Field && !strings.Contains(holder.place(), "[0]"):
		case !slices.Equal(was.identity(holder), is.identity(n)):
			v.holder, v.changed = holder.Path, fmt.Sprintf("%s identifies the elements of %s by other fields now", is.to(), holder.Path)
			return v
		}
	}
	return verdict{}
}

// place returns the place in the other version.
func (p *keptPlace) place() string { return cmp.Or(p.To, p.made.at, p.Path) }

// compare finds what has changed of the things that decide about kept values of a place.
func (v *verdict) compare(is *keptView, p, n *keptPlace) {
	v.joined, v.left = belong(n.members, p.members, "now"), belong(p.members, n.members, "no longer")
	if v.changed = changed(p, n, is.src); v.changed != "" || v.joined+v.left != "" {
		return
	}
	if w := added(n.related, p.related); w != nil {
		v.changed = fmt.Sprintf("%s, whose places belong with it, is new or has changed", w.rule)
		v.rule, v.pos = w.rule.String(), w.rule.Pos
	} else if added(p.related, n.related) != nil {
		v.changed = "a rule whose places belonged with it is gone"
	}
}

// belong says which members are not among others, or nothing.
func belong(members, others []string, when string) string {
	members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return slices.Contains(others, m) })
	switch len(members) {
	case 0:
		return ""
	case 1:
		return members[0] + " belongs with it " + when
	}
	return strings.Join(members, ", ") + " belong with it " + when
}

// judgeDefault reports that the schema has another default than before: defaults are not kept.
func (c *comparison) judgeDefault(was, is *keptView, p, n *keptPlace) verdict {
	if !p.loses || p.united || !p.made.alone || p.filled == "" || n == nil || n.filled == p.filled || was.to() != is.to() {
		return verdict{}
	}
	return verdict{code: keptDefault, pos: c.spokePos(is), filled: n.filled, was: p.filled}
}

// reportAll reports verdicts: one for a place and everything in it if that is the same, and one for
// all places of a rule.
func (c *comparison) reportAll(was, is *keptView, verdicts map[string]verdict) {
	mixed := map[string]bool{}
	for _, p := range was.places {
		for i := range p.segments {
			if above := keyOf(p.segments[:i]); verdicts[p.key] != verdicts[above] {
				mixed[above] = true
			}
		}
		if own := strings.TrimSuffix(p.key, unknownKey); own != p.key && verdicts[p.key] != verdicts[own] {
			mixed[own] = true
		}
	}
	var order []verdict
	places := map[verdict][]*keptPlace{}
	for _, p := range was.places {
		v := verdicts[p.key]
		if v.code == keptParted || !p.ownNote() && (mixed[p.key] || !hasParts(was, p)) {
			continue
		}
		if places[v] == nil {
			order = append(order, v)
		}
		if !slices.ContainsFunc(places[v], func(q *keptPlace) bool { return binding.Within(p.segments, q.segments) || p.Path == q.Path }) {
			places[v] = append(places[v], p)
		}
	}
	for _, v := range order {
		c.report(was, is, v, places[v])
	}
}

// hasParts reports whether there is anything in a place.
func hasParts(v *keptView, p *keptPlace) bool {
	return slices.ContainsFunc(v.places, func(q *keptPlace) bool { return q.Kind != Presence && binding.Within(q.segments, p.segments) })
}

func (c *comparison) report(was, is *keptView, v verdict, places []*keptPlace) {
	paths := make([]string, 0, len(places))
	for _, p := range places {
		paths = append(paths, p.Path)
	}
	version, other := was.from(), is.to()
	of := fmt.Sprintf("%s of %s: ", strings.Join(paths, ", "), version)
	it, field := "it", "field"
	if len(paths) > 1 {
		it, field = "them", "fields"
	}
	switch v.code {
	case keptReturns:
		c.reportReturns(is, v, places)
	case keptEdited:
		what := slices.DeleteFunc([]string{v.changed, v.joined, v.left}, func(s string) bool { return s == "" })
		c.say(v.pos, v.code, c.save(version), "%s%s: kept values will be treated as edited%s: the rules' own result is used",
			of, strings.Join(what, ", "), v.condition())
	case keptNoPlace:
		if v.holder != "" {
			c.say(v.pos, v.code, c.save(version), "%s%s has no place for %s any more (it had %s): "+
				"values kept in it return only if a part of it is shown", of, other, v.holder, v.changed)
			return
		}
		c.say(v.pos, v.code, c.save(version), "%s%s has no place for %s any more: a value there (%s) returns only if it was kept as well",
			of, other, it, v.changed)
	case keptDropped:
		c.say(v.pos, v.code, "remove `drop` to keep "+it, "%s%s drops %s now, so kept values will be dropped: %s", of, v.rule, it, v.reason)
	case keptNoField:
		c.say(v.pos, v.code, "", "%s%s has no such %s any more: kept values do not return", of, version, field)
	case keptDefault:
		was, then := short(v.was, "another one"), "become "+short(v.filled, "the new one")
		is := "is " + short(v.filled, "another one") + " now"
		if v.filled == "" {
			is, then = "is gone", "are lost"
		}
		c.say(v.pos, v.code, c.save(version), "%sthe default in its schema %s, and was %s: "+
			"values that were the default are not kept, and %s", of, is, was, then)
	}
}

// reportReturns reports that the other version has places for kept values now, once for each place
// there.
func (c *comparison) reportReturns(is *keptView, v verdict, places []*keptPlace) {
	var order []string
	paths := map[string][]string{}
	for _, p := range places {
		text := is.returns(v, is.find(p))
		if paths[text] == nil {
			order = append(order, text)
		}
		paths[text] = append(paths[text], p.Path)
	}
	for _, text := range order {
		hint := ""
		if !v.computed {
			hint = fmt.Sprintf("%s shows it once the object is written at %s under the new rules: %s -o json | kubectl replace -f -",
				is.to(), is.from(), c.get(is.from()))
		}
		c.say(v.pos, v.code, hint, "%s of %s: %s", strings.Join(paths[text], ", "), is.from(), text)
	}
}

// returns says where the other version has a place for kept values.
func (v *keptView) returns(of verdict, n *keptPlace) string {
	if of.computed {
		return of.rule + " computes it now: kept values return if the rule gives nothing, and are dropped otherwise"
	}
	by, then := of.rule, "the rule converts it"
	if by == "" {
		by, then = "copied", "it is copied"
	}
	others := ""
	for _, m := range n.members {
		if place, version, _ := strings.Cut(m, " of "); version == v.to() && !slices.Contains(strings.Split(n.place(), ", "), place) {
			others += ", " + place
		}
	}
	if others != "" {
		others = " there, and nothing of" + strings.TrimPrefix(others, ",")
	}
	return fmt.Sprintf("%s has a place for it now (%s, %s): kept values return to it if %s shows nothing%s, and from then on %s",
		v.to(), n.place(), by, v.to(), others, then)
}

// short returns a JSON text, or another text in place of a long one.
func short(text, other string) string {
	const longest = 40
	if len(text) > longest {
		return other
	}
	return text
}

// condition says for which objects the verdict holds.
func (v *verdict) condition() string {
	switch {
	case v.holder != "":
		return " if too little of an element is unchanged"
	case v.changed == "":
		return " if there is a value"
	case v.joined+v.left == "":
		return " if that gives something else"
	}
	return ""
}
