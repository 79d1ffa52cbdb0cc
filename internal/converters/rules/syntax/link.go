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
	var sets []*RuleSet
	for _, s := range scopes {
		sets = append(sets, s.in.Sets...)
		for _, set := range s.in.Sets {
			set.Doubtful = !l.resolve(set.Rules, s) || set.Doubtful || l.twice[s.in]
		}
	}
	spread(sets)
	for _, f := range files {
		for _, c := range f.Conversions {
			l.conversion(c)
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
	doubtful := c.Doubtful
	for _, rules := range c.ownLists() {
		found = l.resolve(rules, s) && found
		for _, r := range rules {
			doubtful = doubtful || r.Uses != nil && r.Uses.In != nil && r.Uses.Doubtful
		}
	}
	c.Doubtful = doubtful || !found
	c.Wrong = c.Wrong || c.Doubtful
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
	for _, s := range c.Shared() {
		all = append(all, s.Rules...)
	}
	return all
}

// Shared returns the rule sets of other documents that its rules lead to, in the order of their
// names.
func (c *Conversion) Shared() []*RuleSet {
	var shared []*RuleSet
	seen := map[*RuleSet]bool{}
	add := func(rules []*Rule) {
		for _, r := range rules {
			if set := r.Uses; set != nil && set.In != nil && !seen[set] {
				seen[set] = true
				shared = append(shared, set)
			}
		}
	}
	for _, rules := range c.ownLists() {
		add(rules)
	}
	for next := 0; next != len(shared); next++ {
		add(shared[next].Rules)
	}
	slices.SortFunc(shared, func(a, b *RuleSet) int { return strings.Compare(a.Name, b.Name) })
	return shared
}

// spread marks each rule set as doubtful that uses one that is.
func spread(sets []*RuleSet) {
	users := map[*RuleSet][]*RuleSet{}
	var open []*RuleSet
	for _, s := range sets {
		if s.Doubtful {
			open = append(open, s)
		}
		for _, r := range s.Rules {
			if r.Uses != nil {
				users[r.Uses] = append(users[r.Uses], s)
			}
		}
	}
	for len(open) > 0 {
		last := len(open) - 1
		s := open[last]
		open = open[:last]
		for _, user := range users[s] {
			if !user.Doubtful {
				user.Doubtful = true
				open = append(open, user)
			}
		}
	}
}
