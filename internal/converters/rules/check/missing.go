package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A missing is members that the target requires and the source may not give, all for one cause.
type missing struct {
	code    string
	rules   []*syntax.Rule // which are to blame; none: no rule names the members
	object  string         // which the rules make, or empty
	src     string         // its counterpart in the source, if a condition can name it
	name    string         // of each member
	members []string       // their paths
	node    *crdschema.Node
	from    string // the place that a single member is copied from, if its path is another
	ruled   bool   // the rule names the member itself
	why     string
	remedy  string
}

// sameCause reports whether one line of a file cures both.
func (m *missing) sameCause(o *missing) bool {
	if m.code != o.code || m.object != o.object {
		return false
	}
	if m.object != "" {
		return true
	}
	return m.name == o.name && m.remedy == o.remedy && m.node.Same(o.node) &&
		(len(m.rules) == 0 && len(o.rules) == 0 && m.why == o.why || len(m.rules) > 0 && len(o.rules) > 0 && m.rules[0] == o.rules[0])
}

// mayStayAbsent reports whether the file says that a place may stay absent.
func (q *requirer) mayStayAbsent(text string) bool {
	for _, a := range q.Absences {
		if a.Has(q.dst, text) {
			q.excused[a.Rule.MayBeAbsent] = true
			return true
		}
	}
	if q.Version.MayBeAbsent != nil {
		q.excused[q.Version.MayBeAbsent] = true
		return true
	}
	return false
}

// report warns of each cause once.
func (q *requirer) report() {
	var causes []*missing
	for _, m := range q.missing {
		i := slices.IndexFunc(causes, m.sameCause)
		if i < 0 {
			causes = append(causes, m)
			continue
		}
		causes[i].join(m)
	}
	for _, m := range causes {
		q.sayMissing(m)
	}
}

func (m *missing) join(o *missing) {
	for _, text := range o.members {
		if !slices.Contains(m.members, text) {
			m.members = append(m.members, text)
		}
	}
	for _, r := range o.rules {
		if !slices.Contains(m.rules, r) {
			m.rules = append(m.rules, r)
		}
	}
}

// maxMembers bounds how many members or rules a message lists.
const maxMembers = 4

func (q *requirer) sayMissing(m *missing) {
	members, src, dst := finding.Few(m.members, maxMembers), q.Names[q.src], q.Names[q.dst]
	pos, text, it, rule := q.Version.Pos, "", m.words("it", "them"), m.words("a rule", "rules")
	if len(m.rules) > 0 {
		pos = posOf(m.rules[0], q.dst)
	}
	switch {
	case m.object != "":
		text = fmt.Sprintf("%s %s %s", rulesText(m.rules), m.why, members)
	case m.code == "required-field-without-source":
		text = fmt.Sprintf("%s -> %s: %s requires %s, %s %s: add %s %s", src, dst, dst, members, m.why, it, rule, m.remedy)
	case m.code == "required-field":
		which := "which"
		if m.from != "" && len(m.members) == 1 {
			which = "and " + m.from
		}
		text = fmt.Sprintf("%s -> %s: %s requires %s, %s %s: add %s for %s %s", src, dst, dst, members, which, m.why, rule, it, m.remedy)
	default:
		text = fmt.Sprintf("%s: %s, but %s requires %s", m.rules[0], m.why, dst, members)
		if m.remedy != "" {
			text += ": " + m.remedy
		}
	}
	q.warn(pos, m.code, q.hint(m), "%s", text)
}

// words returns what a sentence calls one member, or several.
func (m *missing) words(one, several string) string {
	if len(m.members) > 1 {
		return several
	}
	return one
}

// rulesText names rules as the subject of a sentence about one of them.
func rulesText(rules []*syntax.Rule) string {
	names := make([]string, 0, len(rules))
	for _, r := range rules {
		names = append(names, r.String())
	}
	if len(names) > maxMembers {
		return strings.Join(names[:maxMembers], ", ") + fmt.Sprintf(", and %d more rules: each", len(names)-maxMembers)
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + ": each"
	}
	return names[0] + ": it"
}

// hint says how to allow the absence, and how not to make an object.
func (q *requirer) hint(m *missing) string {
	allow := "`mayBeAbsent: REASON` for the whole version"
	switch place := m.words(m.members[0], m.object); {
	case m.ruled:
		allow = fmt.Sprintf("`mayBeAbsent: REASON` in %s", m.rules[0])
	case place != "":
		allow = fmt.Sprintf("{%s: %s, mayBeAbsent: REASON}", q.dst.Key(), syntax.Quoted(place))
	}
	allow = fmt.Sprintf("if %s may stay absent: %s", m.words("it", "they"), allow)
	if m.src != "" {
		return "to make no such object: `" + guardKey(q.dst) + ": has(object" + m.src + ")`; to fill it: " + q.defaultKey() + "; " + allow
	}
	return allow
}
