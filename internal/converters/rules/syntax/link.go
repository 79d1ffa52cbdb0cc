package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// Link finds the rule sets that the rules of files use, in their own documents and in all RuleSets
// of the files. It must be called once, before anything else uses the files. The findings say what
// keeps a Conversion from being used, and idle which rule sets of RuleSets have no effect.
func Link(files []*File) (findings, idle []finding.Finding) {
	l := &linker{documents: map[string]*scope{}, short: map[string]string{}, twice: map[*RuleSets]bool{}, used: map[*RuleSet]bool{}}
	var scopes []*scope
	for _, f := range files {
		l.unread = l.unread || f.Unread
		for _, d := range f.RuleSets {
			scopes = append(scopes, l.add(d))
		}
	}
	for _, s := range scopes {
		for _, set := range s.in.Sets {
			set.Doubtful = !l.resolve(set.Rules, s) || set.Doubtful
		}
	}
	for _, f := range files {
		for _, c := range f.Conversions {
			l.conversion(c)
		}
	}
	for _, f := range files {
		for _, c := range f.Conversions {
			reach(c, l.twice)
		}
	}
	for _, s := range scopes {
		if !l.unsure {
			idle = append(idle, l.idle(s, s.in.Sets)...)
		}
	}
	return finding.Sort(l.findings), finding.Sort(idle)
}

// A linker connects the documents of files.
type linker struct {
	documents map[string]*scope  // of the RuleSets
	names     []string           // of documents
	short     map[string]string  // the name of a rule set in its document, to its name in others
	twice     map[*RuleSets]bool // those that share their name
	used      map[*RuleSet]bool
	unsure    bool // a rule may have meant a rule set of any RuleSets
	unread    bool // a document could not be read, which may have been any RuleSets
	findings  []finding.Finding
}

// add adds a RuleSets.
func (l *linker) add(d *RuleSets) *scope {
	s := newScope(d.Sets, d)
	first := l.documents[d.Name]
	switch {
	case d.Name == "":
		l.unread = true
	case first != nil:
		l.twice[first.in], l.twice[d] = true, true
		l.findings = append(l.findings, finding.Finding{
			Pos: d.NamePos, Code: "duplicate-rule-sets", Hint: "rename one of them, or put the rule sets into one",
			Message: fmt.Sprintf("there is a second %s %s, the first is at %s", KindRuleSets, d.Name, first.in.NamePos),
		})
	default:
		l.documents[d.Name] = s
		l.names = append(l.names, d.Name)
		for _, name := range s.names {
			l.short[name] = d.Name + "/" + name
		}
	}
	return s
}

// conversion links the rules of a Conversion, and reports rule sets of its own without effect.
func (l *linker) conversion(c *Conversion) {
	s := newScope(c.RuleSets, nil)
	found := true
	for _, rules := range c.ownLists() {
		found = l.resolve(rules, s) && found
	}
	c.Wrong, c.Doubtful = c.Wrong || !found, c.Doubtful || !found
	if found {
		idle := l.idle(s, c.RuleSets)
		c.Wrong = c.Wrong || len(idle) > 0
		l.findings = append(l.findings, idle...)
	}
}

// ownLists returns the lists of rules that the document has.
func (c *Conversion) ownLists() [][]*Rule {
	var lists [][]*Rule
	for _, v := range c.Versions {
		if v.SameAs == nil { // otherwise the rules are those of another version
			lists = append(lists, v.Rules)
		}
	}
	for _, s := range c.RuleSets {
		lists = append(lists, s.Rules)
	}
	return lists
}

// AllRules returns the rules of all versions, and of all rule sets that they may lead to.
func (c *Conversion) AllRules() []*Rule {
	all := slices.Concat(c.ownLists()...)
	for _, s := range c.Shared {
		all = append(all, s.Rules...)
	}
	return all
}

// reach finds the rule sets of other documents that the rules of a Conversion lead to. It cannot be
// used if one of them is doubtful.
func reach(c *Conversion, twice map[*RuleSets]bool) {
	seen := map[*RuleSet]bool{}
	var follow func(rules []*Rule)
	follow = func(rules []*Rule) {
		for _, r := range rules {
			set := r.Uses
			if set == nil || seen[set] || set.In == nil {
				continue
			}
			seen[set] = true
			c.Shared = append(c.Shared, set)
			c.Doubtful = c.Doubtful || set.Doubtful
			c.Wrong = c.Wrong || set.Doubtful || twice[set.In]
			follow(set.Rules)
		}
	}
	for _, rules := range c.ownLists() {
		follow(rules)
	}
	slices.SortFunc(c.Shared, func(a, b *RuleSet) int { return strings.Compare(a.Name, b.Name) })
}
