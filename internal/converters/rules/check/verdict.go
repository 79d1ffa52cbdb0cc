package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A verdict says what becomes of values that were kept of a place. The zero verdict is that they return as before.
type verdict struct {
	code   string
	pos    finding.Position
	rule   string // of now, if there is one
	reason string // of a rule that drops it
	// joined and left are the places that have come to those that belong together, and gone from them; changed says what else there is.
	joined, left, changed string
	filled, was           string // what the schema fills in, and what it did
	holder                string // the object or list in which the place is, if that decides
	computed              bool   // a rule computes the place from nothing that is its counterpart
}

const (
	keptReturns = "kept-returns"  // to a place that it did not have
	keptEdited  = "kept-edited"   // it counts as edited
	keptNoPlace = "kept-no-place" // the other version has none any more
	keptDropped = "kept-dropped"
	keptNoField = "kept-no-field" // the version itself has it no more
	keptDefault = "kept-default"
	keptParted  = "" // by another hub, which is told of as a whole
)

// pair tells of what was kept of a version beside another one.
func (c *comparison) pair(was, is *keptView) {
	was.pick(is)
	verdicts, defaults := map[string]verdict{}, map[string]verdict{}
	for _, p := range was.places {
		n := is.find(p)
		verdicts[p.key] = c.judge(was, is, p, n)
		defaults[p.key] = c.filledIn(was, is, p, n)
	}
	for _, told := range []map[string]verdict{verdicts, defaults} {
		c.tell(was, is, told)
	}
}

// judge says what becomes of values that were kept of a place; n is what it is now, or nil.
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

// judgeAlone is judge for what decides about the place itself.
func (c *comparison) judgeAlone(was, is *keptView, p, n *keptPlace) verdict {
	v := verdict{pos: versionPos(c.now.Conversion, is.spoke.Names[binding.OfSpoke])}
	if r := n.rule(); r != nil {
		v.pos, v.rule = r.Pos, r.String()
	}
	// Nothing was shown beside what was kept: the other version had no place for it, or did not take it.
	bare := !p.united && (p.Class == Preserved || p.Class == Unmapped) && len(p.made.by) == 0
	// It may be that something is shown now.
	shown := n.united || !n.made.alone
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
	switch {
	case bare && !n.made.alone && (p.made.alone || was.to() != is.to() || v.differs()):
		v.code, v.joined, v.left, v.changed = keptReturns, "", "", ""
		v.computed = n.Class == Preserved && len(n.made.by) > 0
	case v.differs():
		v.code = keptEdited
	default:
		return verdict{}
	}
	return v
}

// judgeHolders says what becomes of what was kept in objects and lists that are shown in another way: what is in an object returns
// where that is there, and what is in an element where that is the same one.
func (c *comparison) judgeHolders(was, is *keptView, p *keptPlace) verdict {
	v := verdict{code: keptEdited, pos: versionPos(c.now.Conversion, is.spoke.Names[binding.OfSpoke])}
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
		case !slices.Equal(was.face(holder), is.face(n)):
			v.holder, v.changed = holder.Path, fmt.Sprintf("%s shows other fields of what is in %s, by which an element is known", is.to(), holder.Path)
			return v
		}
	}
	return verdict{}
}

// differs reports whether anything is not as it was.
func (v *verdict) differs() bool { return v.joined+v.left+v.changed != "" }

// place says where the other version has, or had, the place.
func (p *keptPlace) place() string { return cmp.Or(p.To, p.made.at, p.Path) }

// rule returns the rule that is to do with the place, the first one if there are more, or nil.
func (p *keptPlace) rule() *syntax.Rule { return cmp.Or(p.made.rule, p.made.via) }

// compare finds what decides about the kept values of a place, and is another thing now.
func (v *verdict) compare(is *keptView, p, n *keptPlace) {
	var joined, left []string
	for _, m := range n.members {
		if !slices.Contains(p.members, m) {
			joined = append(joined, m)
		}
	}
	for _, m := range p.members {
		if !slices.Contains(n.members, m) {
			left = append(left, m)
		}
	}
	v.joined, v.left = listed(joined), listed(left)
	if v.changed = changed(p, n, is.src); v.changed != "" || v.joined+v.left != "" {
		return
	}
	if w := another(n.beside, p.beside); w != nil {
		v.changed = fmt.Sprintf("%s, whose places belong with it, is new or has changed", w.rule)
		v.rule, v.pos = w.rule.String(), w.rule.Pos
	} else if another(p.beside, n.beside) != nil {
		v.changed = "a rule is gone whose places belonged with it"
	}
}

// another returns the first of some ways that is none of others, or nil.
func another(ways, others []way) *way {
	for i := range ways {
		if !slices.ContainsFunc(others, ways[i].same) {
			return &ways[i]
		}
	}
	return nil
}

// changed says what of the way to a place has changed, or nothing.
func changed(p, n *keptPlace, to binding.Side) string {
	switch {
	case len(p.ways) == 0 && len(n.ways) == 0 && p.Class != n.Class:
		return "it is " + string(n.Class) + " now"
	case p.made.partly && !n.made.partly:
		return "its elements are all there now"
	case len(p.ways) == 0 && len(n.ways) > 0:
		return n.Rule + " converts it now"
	case len(p.ways) > 0 && len(n.ways) == 0:
		return "no rule converts it any more"
	case len(p.ways) == 1 && len(n.ways) == 1:
		return changedPart(p.ways[0], n.ways[0], to)
	}
	if w := another(n.ways, p.ways); w != nil {
		return fmt.Sprintf("%s is new or has changed", w.rule)
	}
	if another(p.ways, n.ways) != nil {
		return "one of the rules for it is gone"
	}
	return ""
}

// changedPart says what of a rule has changed, or nothing.
func changedPart(was, is way, to binding.Side) string {
	if is.same(was) {
		return ""
	}
	all := maps.Clone(was.parts)
	maps.Copy(all, is.parts)
	var keys []string
	for _, part := range slices.Sorted(maps.Keys(all)) {
		if was.parts[part] != is.parts[part] {
			keys = append(keys, partKey(part, to))
		}
	}
	switch len(keys) {
	case 0:
		return fmt.Sprintf("%s has other places", is.rule)
	case 1:
		return "`" + keys[0] + "` of " + is.rule.String() + " has changed"
	}
	return "`" + strings.Join(keys, "`, `") + "` of " + is.rule.String() + " have changed"
}

// filledIn says that the schema fills in another value than before: what was filled in is not kept.
func (c *comparison) filledIn(was, is *keptView, p, n *keptPlace) verdict {
	if !p.loses || p.united || !p.made.alone || p.filled == "" || n == nil || n.filled == p.filled || was.to() != is.to() {
		return verdict{}
	}
	return verdict{code: keptDefault, pos: versionPos(c.now.Conversion, is.spoke.Names[binding.OfSpoke]), filled: n.filled, was: p.filled}
}

// tell reports verdicts: one for a place and all that is in it where that is the same, and one for all places of a rule.
func (c *comparison) tell(was, is *keptView, verdicts map[string]verdict) {
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
	whole := func(p *keptPlace) bool { return p.says() || !mixed[p.key] && c.hasParts(was, p) }
	var order []verdict
	places := map[verdict][]*keptPlace{}
	for _, p := range was.places {
		v := verdicts[p.key]
		if v.code == keptParted || !whole(p) {
			continue
		}
		told := slices.ContainsFunc(places[v], func(q *keptPlace) bool { return binding.Within(p.segments, q.segments) || p.Path == q.Path })
		switch {
		case told:
		case places[v] == nil:
			order = append(order, v)
			fallthrough
		default:
			places[v] = append(places[v], p)
		}
	}
	for _, v := range order {
		c.report(was, is, v, places[v])
	}
}

// hasParts reports whether there is anything in a place.
func (c *comparison) hasParts(v *keptView, p *keptPlace) bool {
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
		c.returns(is, v, places)
	case keptEdited:
		c.say(v.pos, v.code, c.save(version), "%s%s: values kept before will be treated as edited%s: the rules' own result is used",
			of, v.what(), v.where())
	case keptNoPlace:
		if v.holder != "" {
			c.say(v.pos, v.code, c.save(version), "%s%s has no place for %s any more (it had %s): what was kept in it returns only where something of it is shown",
				of, other, v.holder, v.changed)
			return
		}
		c.say(v.pos, v.code, c.save(version), "%s%s has no place for %s any more: what it said there (%s) returns only where it was kept as well",
			of, other, it, v.changed)
	case keptDropped:
		c.say(v.pos, v.code, "leave `drop` out to have it kept", "%s%s drops %s now, what was kept of %s will be dropped: %s", of, v.rule, it, it, v.reason)
	case keptNoField:
		c.say(v.pos, v.code, "", "%s%s has no such %s any more: what was kept of %s does not return", of, version, field, it)
	case keptDefault:
		was, then := short(v.was, "what it was"), "become "+short(v.filled, "the new one")
		is := "is " + short(v.filled, "another one") + " now"
		if v.filled == "" {
			is, then = "is gone", "go"
		}
		c.say(v.pos, v.code, c.save(version), "%sthe default in its schema %s, and was %s: values that were the default are not kept, and %s", of, is, was, then)
	}
}

// returns tells that the other version has got places for what was kept: of those that have got the same one, at once.
func (c *comparison) returns(is *keptView, v verdict, places []*keptPlace) {
	var order []string
	paths := map[string][]string{}
	for _, p := range places {
		text := is.returned(v, is.find(p))
		if paths[text] == nil {
			order = append(order, text)
		}
		paths[text] = append(paths[text], p.Path)
	}
	for _, text := range order {
		hint := ""
		if !v.computed {
			hint = fmt.Sprintf("%s shows it once the object is written at %s: %s -o json | kubectl replace -f - under the new rules",
				is.to(), is.from(), c.get(is.from()))
		}
		c.say(v.pos, v.code, hint, "%s of %s: %s", strings.Join(paths[text], ", "), is.from(), text)
	}
}

// returned says where the other version has a place for what was kept.
func (v *keptView) returned(of verdict, n *keptPlace) string {
	if of.computed {
		return of.rule + " computes it now: what was kept returns where the rule gives nothing, and else is dropped"
	}
	by, then := of.rule, "the rule has it"
	if by == "" {
		by, then = "copied", "it is copied"
	}
	beside := ""
	for _, m := range n.members {
		if place, version, _ := strings.Cut(m, " of "); version == v.to() && !slices.Contains(strings.Split(n.place(), ", "), place) {
			beside += ", " + place
		}
	}
	if beside != "" {
		beside = " there, and nothing of" + strings.TrimPrefix(beside, ",")
	}
	return fmt.Sprintf("%s has a place for it now (%s, %s): what was kept returns to it where %s shows nothing%s, and from then on %s",
		v.to(), n.place(), by, v.to(), beside, then)
}

// what says what has changed.
func (v *verdict) what() string {
	var parts []string
	if v.changed != "" {
		parts = append(parts, v.changed)
	}
	if v.joined != "" {
		parts = append(parts, v.joined+" with it now")
	}
	if v.left != "" {
		parts = append(parts, v.left+" with it no more")
	}
	return strings.Join(parts, ", ")
}

// short returns a JSON text, or another text in place of a long one.
func short(text, other string) string {
	const longest = 40
	if len(text) > longest {
		return other
	}
	return text
}

// listed writes members, with the verb that follows.
func listed(members []string) string {
	switch len(members) {
	case 0:
		return ""
	case 1:
		return members[0] + " belongs"
	}
	return strings.Join(members, ", ") + " belong"
}

// where says of which objects the verdict is.
func (v *verdict) where() string {
	switch {
	case v.holder != "":
		return " where too little of an element is what it was"
	case v.changed == "":
		return " where there is something"
	case v.joined+v.left == "":
		return " where that gives something else"
	}
	return ""
}
