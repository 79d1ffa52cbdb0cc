package syntax

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Newest returns the Conversion without rules that a transitional one replaces: one of the same
// list that has one of its places. The Conversion must be linked, and is not changed.
func (c *Conversion) Newest() *Conversion {
	if !c.isTransitional() {
		return c
	}
	return c.withRules(func(r *Rule, among []*Rule) bool {
		return r.Transitional || !slices.ContainsFunc(among, func(o *Rule) bool { return o.Transitional && r.meets(o) })
	})
}

// Earlier returns the Conversion without its transitional rules, or nil if it has none.
func (c *Conversion) Earlier() *Conversion {
	if !c.isTransitional() {
		return nil
	}
	return c.withRules(func(r *Rule, _ []*Rule) bool { return !r.Transitional })
}

func (c *Conversion) isTransitional() bool {
	return slices.ContainsFunc(c.AllRules(), func(r *Rule) bool { return r.Transitional })
}

// meets reports whether two rules have a place in common.
func (r *Rule) meets(other *Rule) bool { return r.Spoke.meets(other.Spoke) || r.Hub.meets(other.Hub) }

func (p *Place) meets(other *Place) bool {
	return p != nil && other != nil && slices.ContainsFunc(p.Paths, func(n NamedPath) bool {
		return slices.ContainsFunc(other.Paths, func(o NamedPath) bool {
			return slices.EqualFunc(n.Path.Segments, o.Path.Segments, Segment.Equal)
		})
	})
}

// withRules returns a copy that has the rules for which use returns true, each of a list.
func (c *Conversion) withRules(use func(r *Rule, among []*Rule) bool) *Conversion {
	sets := map[*RuleSet]*RuleSet{}
	var set func(*RuleSet) *RuleSet
	rules := func(all []*Rule) []*Rule {
		used := make([]*Rule, 0, len(all))
		for _, r := range all {
			if use(r, all) {
				copied := *r
				copied.Uses = set(r.Uses)
				used = append(used, &copied)
			}
		}
		return used
	}
	set = func(s *RuleSet) *RuleSet {
		if s == nil || sets[s] != nil { // it may lead to itself
			return sets[s]
		}
		copied := *s
		sets[s] = &copied
		copied.Rules = rules(s.Rules)
		return &copied
	}
	next := *c
	next.RuleSets, next.Versions = nil, nil
	for _, s := range c.RuleSets {
		next.RuleSets = append(next.RuleSets, set(s))
	}
	for _, v := range c.Versions {
		copied := *v
		copied.Rules = rules(v.Rules)
		next.Versions = append(next.Versions, &copied)
	}
	return &next
}

// Changed returns the rules that an earlier Conversion lacks, and those of the earlier one that
// nothing replaces. Rules are compared within their version or rule set.
func (c *Conversion) Changed(earlier *Conversion) (now, gone []*Rule) {
	was := earlier.lists()
	for name, list := range c.lists() {
		before, has := was[name]
		if !has {
			continue
		}
		changed := slices.DeleteFunc(slices.Clone(list), func(r *Rule) bool { return r.isAmong(before) })
		now = append(now, changed...)
		for _, r := range before {
			if !r.isAmong(list) && !slices.ContainsFunc(changed, r.meets) {
				gone = append(gone, r)
			}
		}
	}
	return now, gone
}

// lists returns the lists of rules by the names of their versions, and a slash and that of their
// rule sets.
func (c *Conversion) lists() map[string][]*Rule {
	lists := make(map[string][]*Rule, len(c.Versions))
	for _, v := range c.Versions {
		if v.SameAs == nil {
			lists[v.Name] = v.Rules
		}
	}
	for _, s := range c.AllSets() {
		lists["/"+s.Name] = s.Rules
	}
	return lists
}

func (r *Rule) isAmong(list []*Rule) bool {
	says := r.Says()
	return slices.ContainsFunc(list, func(o *Rule) bool { return o.Says() == says })
}

// Digest is the same for Conversions that convert in the same way.
func (c *Conversion) Digest() string {
	sum := fnv.New64a()
	add := func(title string, rules []*Rule) {
		_, _ = fmt.Fprintln(sum, title)
		for _, r := range rules {
			_, _ = fmt.Fprintln(sum, r.Says())
		}
	}
	add(c.Hub, nil)
	for _, v := range c.Versions {
		add(v.Name, v.Rules)
	}
	for _, s := range c.AllSets() {
		add(s.Name, s.Rules)
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// Says returns a text that is the same for rules that convert in the same way. A rule set counts by
// its name.
func (r *Rule) Says() string {
	said := *r
	said.Index, said.Set, said.Uses, said.MayBeAbsent, said.Transitional = 0, "", nil, nil, false
	var b strings.Builder
	write(&b, reflect.ValueOf(said))
	return b.String()
}

// write writes a part of a rule without positions.
func write(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			write(b, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			write(b, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[Position]() {
				b.WriteString(f.Name + ":")
				write(b, v.Field(i))
			}
		}
	default:
		fmt.Fprintf(b, "%v;", v)
	}
}
