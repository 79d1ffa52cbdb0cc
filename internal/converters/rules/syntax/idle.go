package syntax

import (
	"reflect"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// idle returns findings about rule sets of a document that have no effect: no rule uses them, or
// they only lead back to themselves.
func (l *linker) idle(s *scope, sets []*RuleSet) []finding.Finding {
	var findings []finding.Finding
	said := map[*RuleSet]bool{}
	for _, set := range sets {
		if !l.used[set] {
			if !s.unsure && !l.twice[s.in] && (s.in == nil || s.in.Name != "") {
				findings = append(findings, finding.Finding{
					Pos: set.Pos, Code: "unused-rule-set", Message: "no rule uses the rule set " + set.Name,
					Hint: "remove it, or apply it with use: " + set.Name,
				})
			}
			continue
		}
		circle := circleOf(set)
		if circle != nil && !said[set] {
			findings = append(findings, finding.Finding{
				Pos: set.Pos, Code: "rule-set-in-circle", Hint: "add rules for what differs, or remove it and what uses it",
				Message: "the rule set " + set.Name + " only leads back to itself, and converts nothing",
			})
		}
		for other := range circle {
			said[other] = true
		}
	}
	return findings
}

// circleOf returns the rule sets that a rule set leads to, if it is one of them and none of their
// rules does anything but use another one. Otherwise it returns nil.
func circleOf(set *RuleSet) map[*RuleSet]bool {
	const most = 100 // so that many long chains do not take long
	found := map[*RuleSet]bool{}
	open := []*RuleSet{set}
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		for _, r := range next.Rules {
			if !r.onlyUses() || len(found) > most {
				return nil
			}
			if !found[r.Uses] {
				found[r.Uses] = true
				open = append(open, r.Uses)
			}
		}
	}
	if !found[set] {
		return nil
	}
	return found
}

// onlyUses reports whether a rule does nothing but apply a rule set to one place of both versions.
func (r *Rule) onlyUses() bool {
	if r.Uses == nil || r.Spoke == nil || r.Hub == nil || r.Spoke.Named || r.Hub.Named {
		return false
	}
	rest := *r
	rest.Pos, rest.Index, rest.Set, rest.Spoke, rest.Hub, rest.Use, rest.Uses = Position{}, 0, "", nil, nil, nil, nil
	return r.Spoke.Paths[0].Path.Text == r.Hub.Paths[0].Path.Text && reflect.ValueOf(rest).IsZero()
}
