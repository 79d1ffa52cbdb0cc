package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A verdict is what becomes of values that were kept of a place. The zero verdict: they return as
// before. Texts have <it> and <field> for one place or several.
type verdict struct {
	pos              finding.Position
	code, text, hint string
}

// pair reports what becomes of kept values of a version next to another one.
func (c *comparison) pair(was, is *keptView) {
	for _, p := range was.places {
		if p.verdict = (verdict{}); p.loses {
			p.verdict = c.judge(was, is, p)
		}
	}
	c.report(was)
}

// judge returns what becomes of kept values of a place.
func (c *comparison) judge(was, is *keptView, p *keptPlace) verdict {
	n, file := is.at[p.key], c.now.Conversion
	switch {
	case n != nil:
	case is.find(is.src, p.Path).Known:
		n = &keptPlace{} // as the other version has it, or as an unknown field
	default:
		return verdict{versionPos(file, is.from), "kept-no-field", is.from + " has no such <field> any more: kept values do not return", ""}
	}
	v := verdict{pos: versionPos(file, is.Names[binding.OfSpoke]), hint: c.save(is.from)}
	if r := cmp.Or(n.made.rule, n.made.via); r != nil {
		v.pos = r.Pos
	}
	switch {
	case n.Class == Dropped:
		v.code, v.hint = "kept-dropped", "remove `drop` to keep <it>"
		v.text = fmt.Sprintf("%s drops <it> now, so kept values will be dropped: %s", n.Rule, n.Reason)
	case p.bare() && (n.Class == Copied || n.Class == Mapped):
		v.code, v.text = "kept-returns", is.returns(n)
		v.hint = fmt.Sprintf("%s shows it once the object is written at %s under the new rules: %s -o json | kubectl replace -f -", is.to, is.from, c.get(is.from))
	case was.to != is.to && p.bare():
		return verdict{}
	case was.to != is.to:
		v.code, v.pos = "kept-hub", file.HubPos
		v.text = fmt.Sprintf("the hub is %s now, and was %s: kept values count only as long as %[1]s gives what %[2]s gave", c.now.Hub.Name, c.old.Hub.Name)
		if is.from == c.old.Hub.Name && len(c.old.Spokes) > 1 {
			v.text += ", and versions that were converted through " + is.from + " no longer show it"
		}
	case len(p.sources) > 0 && len(n.sources) == 0 && n.rules == "":
		v.code = "kept-no-place"
		v.text = fmt.Sprintf("%s has no place for <it> any more: a value there (%s) returns only if it was kept as well", is.to, strings.Join(p.sources, ", "))
	default:
		return is.compare(v, was, p, n)
	}
	return v
}

// bare reports whether the other version showed nothing next to the kept value: it had no place for
// it, or did not take it.
func (p *keptPlace) bare() bool {
	return (p.Class == Preserved || p.Class == Unmapped) && p.rules == "" && len(without(p.sources, []string{p.made.counterpart})) == 0
}

// returns says where the other version has a place for kept values now.
func (v *keptView) returns(n *keptPlace) string {
	place, by, then := cmp.Or(n.To, n.made.counterpart), n.Rule, "the rule converts it"
	if by == "" {
		by, then = "copied", "it is copied"
	}
	others := without(n.sources, append(strings.Split(place, ", "), n.made.counterpart))
	if len(others) > 0 {
		others[0] = " there, and nothing of " + others[0]
	}
	return fmt.Sprintf("%s has a place for it now (%s, %s): kept values return to it if %[1]s shows nothing%[4]s, and from then on %[5]s",
		v.to, place, by, strings.Join(others, ", "), then)
}

// compare compares what values depend on. A place that is new in the other version showed nothing,
// so it does not count.
func (v *keptView) compare(to verdict, was *keptView, p, n *keptPlace) verdict {
	come := append(without(n.all, p.all), without(p.others, n.others)...)
	come = slices.DeleteFunc(come, func(source string) bool {
		text, _, _ := strings.Cut(source, defaultMark)
		return !was.find(was.dst, text).Known
	})
	gone := append(without(p.all, n.all), without(n.others, p.others)...)
	if len(come)+len(gone) == 0 {
		gone = without(p.holders, n.holders)
	}
	const edited = ": kept values will be treated as edited if %s: the rules' own result is used"
	to.code = "kept-edited"
	switch what := strings.Trim(v.belong(come, "now")+", "+v.belong(gone, "no longer"), ", "); {
	case what != "":
		to.text = what + fmt.Sprintf(edited, "there is a value")
	case p.allRules != n.allRules:
		to.text = cmp.Or(n.Rule, "a rule for its element") + " has changed" + fmt.Sprintf(edited, "that gives something else")
	case len(p.sources) > 0 || p.filled == "" || p.filled == n.filled:
		return verdict{}
	case n.filled == "":
		to.code = "kept-default"
		to.text = fmt.Sprintf("the default in its schema is gone, and was %s: values that were the default are not kept, and are lost", p.filled)
	default:
		to.code = "kept-default"
		to.text = fmt.Sprintf("the default in its schema is %s now, and was %s: values that were the default are not kept, and become %[1]s", n.filled, p.filled)
	}
	return to
}

// belong says that values depend on places of the other version, or no longer.
func (v *keptView) belong(places []string, when string) string {
	slices.Sort(places)
	switch places = slices.Compact(places); len(places) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s of %s belongs with it %s", places[0], v.to, when)
	}
	return fmt.Sprintf("%s of %s belong with it %s", strings.Join(places, ", "), v.to, when)
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(others, one) })
}

// report reports verdicts: one for a place and everything in it if that is the same, and one for
// all places with the same one.
func (c *comparison) report(of *keptView) {
	places, reported := map[verdict][]string{}, map[string]verdict{}
	for _, p := range of.places {
		if p.code != "" && !slices.ContainsFunc(p.above, func(above string) bool { return reported[above] == p.verdict }) {
			reported[p.key] = p.verdict
			places[p.verdict] = append(places[p.verdict], p.Path)
		}
	}
	for v, paths := range places {
		words := strings.NewReplacer("<it>", "it", "<field>", "field")
		if len(paths) > 1 {
			words = strings.NewReplacer("<it>", "them", "<field>", "fields")
		}
		c.say(v.pos, v.code, words.Replace(v.hint), "%s of %s: %s", strings.Join(paths, ", "), of.from, words.Replace(v.text))
	}
}
