package syntax

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// A scope has the rule sets of a document by the names that its own rules use.
type scope struct {
	in     *RuleSets // nil for a Conversion
	sets   map[string]*RuleSet
	names  []string
	unsure bool // a rule may have meant another of its rule sets
}

func newScope(sets []*RuleSet, in *RuleSets) *scope {
	s := &scope{in: in, sets: make(map[string]*RuleSet, len(sets))}
	for _, set := range sets {
		name := set.Name
		if in != nil {
			name = strings.TrimPrefix(name, in.Name+"/")
		}
		s.sets[name] = set
		s.names = append(s.names, name)
	}
	return s
}

// resolve finds the rule sets that the rules of a document use. It reports whether all exist.
func (l *linker) resolve(rules []*Rule, own *scope) bool {
	all := true
	for _, r := range rules {
		if r.Use == nil {
			continue
		}
		if document, set, shared := strings.Cut(r.Use.Value, "/"); shared {
			r.Uses = l.shared(r, document, set)
		} else {
			r.Uses = l.own(r, own)
		}
		if r.Uses == nil {
			r.Broken, all = true, false
			continue
		}
		l.used[r.Uses] = true
	}
	return all
}

// own returns the rule set of its own document that a rule uses, or reports that there is none.
func (l *linker) own(r *Rule, own *scope) *RuleSet {
	name := r.Use.Value
	if set := own.sets[name]; set != nil {
		return set
	}
	own.unsure = true
	hint := "add it under spec.ruleSets"
	switch other := l.short[name]; {
	case other != "":
		l.unsure = true
		l.missing(r, "there is no such rule set", "did you mean "+other+"?")
		return nil
	case len(own.names) > 0:
		hint = didyoumean.Hint(name, own.names, "there are "+finding.Few(own.names, 12))
	case own.in != nil:
		hint = "add it under ruleSets"
	}
	l.missing(r, "there is no such rule set", hint)
	return nil
}

// shared returns the rule set of a RuleSets that a rule uses, or reports that there is none.
func (l *linker) shared(r *Rule, document, name string) *RuleSet {
	d := l.documents[document]
	switch {
	case d == nil && l.unread:
		l.unsure = true // what could not be read has a finding, which is enough
	case d == nil:
		l.unsure = true
		hint := "give the file that has it as well: webhookd check shared.yaml rules.yaml"
		if near, is := didyoumean.Nearest(document, l.names); is {
			hint = didYouMean(near, name)
		}
		l.missing(r, fmt.Sprintf("there is no %s %.64s", KindRuleSets, document), hint)
	case d.sets[name] == nil:
		d.unsure = true
		hint := "it has " + finding.Few(d.names, 12)
		if near, is := didyoumean.Nearest(name, d.names); is {
			hint = didYouMean(document, near)
		}
		l.missing(r, fmt.Sprintf("the %s %s has no such rule set", KindRuleSets, document), hint)
	default:
		return d.sets[name]
	}
	return nil
}

func didYouMean(document, set string) string {
	return fmt.Sprintf("did you mean %s/%.64s?", document, set)
}

func (l *linker) missing(r *Rule, problem, hint string) {
	l.findings = append(l.findings, finding.Finding{
		Pos: r.Use.Pos, Code: "no-such-rule-set", Hint: hint, Message: fmt.Sprintf("%s uses %.64s: %s", r, r.Use.Value, problem),
	})
}

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
