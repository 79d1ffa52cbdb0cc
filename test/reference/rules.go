package reference

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
)

// The sides of a rule.
const (
	spoke = 0
	hub   = 1
)

// A Function is what a rule calls with go: NAME, with the values in the order of their places.
type Function struct {
	ToHub, ToSpoke func(in []json.RawMessage) ([]json.RawMessage, error)
}

type guard struct {
	at   [2]path
	when [2]*expression // by the side of the result
	key  string
}

type rule struct {
	text              ruleText
	at                [2]map[string]path
	names             [2][]string // in the order of the file
	values, hubValues table
	expr, when        [2]*expression // by the side of the result
	defaults          [2]any
	omit              [2]bool
	function          *Function
	guards            []guard // of the pairs that use the rule's set
	root              [2]path // the object that the rule's set is applied to
}

// pair is the rules between one version and the hub.
type pair struct {
	schemas [2]*Schema
	rules   []*rule
	ordered []*rule              // those that move values first, outer places before inner ones
	keys    [2]map[string]string // the key of a list that a rule names with [name]
	copied  *rule
	claims  [2]map[string][]*rule
	picks   [2]map[string][]step // by list
	paired  [2]map[string]path   // lists and maps that the other side has for these
	units   units
}

type compiler struct {
	env       *cel.Env
	sets      map[string][]ruleText
	functions map[string]Function
	pair      *pair
}

func (c *compiler) compile(texts []ruleText) error {
	p := c.pair
	p.copied = &rule{at: [2]map[string]path{{"": nil}, {"": nil}}}
	if err := c.add(texts, [2]path{}, nil, 0); err != nil {
		return err
	}
	for side := range 2 {
		p.claims[side], p.picks[side] = map[string][]*rule{}, map[string][]step{}
		p.keys[side] = map[string]string{}
		for _, r := range p.rules {
			for _, at := range r.at[side] {
				p.claims[side][at.String()] = append(p.claims[side][at.String()], r)
				for i, s := range at {
					list := at[:i].String()
					if s.kind == items && s.name != "" {
						p.keys[side][list] = s.name
					}
					if (s.kind == pick || s.kind == first) && !slices.Contains(p.picks[side][list], s) {
						p.picks[side][list] = append(p.picks[side][list], s)
					}
				}
			}
		}
	}
	p.paired = [2]map[string]path{{}, {}}
	for _, r := range p.rules {
		s, h := anyPath(r.at[spoke]), anyPath(r.at[hub])
		for n := 1; n <= min(s.scopes(), h.scopes()); n++ {
			a, b := s[:s.scopeOf(n)-1], h[:h.scopeOf(n)-1]
			p.paired[spoke][a.String()], p.paired[hub][b.String()] = b, a
		}
	}
	p.ordered = slices.Concat(p.implicit(), p.rules)
	slices.SortStableFunc(p.ordered, func(a, b *rule) int { return a.rank() - b.rank() })
	p.units = p.makeUnits()
	return nil
}

func (c *compiler) add(texts []ruleText, root [2]path, guards []guard, depth int) error {
	for _, text := range texts {
		var r rule
		var lists [2][]path
		var err error
		if r.at[spoke], r.names[spoke], lists[spoke], err = places(text.Spoke); err != nil {
			return err
		}
		if r.at[hub], r.names[hub], lists[hub], err = places(text.Hub); err != nil {
			return err
		}
		for side, l := range lists {
			for _, p := range l {
				one := r
				one.at[side], one.names[side] = map[string]path{"": p}, []string{""}
				if err := c.addOne(one, text, root, guards, depth); err != nil {
					return err
				}
			}
		}
		if lists[spoke] == nil && lists[hub] == nil {
			if err := c.addOne(r, text, root, guards, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *compiler) addOne(r rule, text ruleText, root [2]path, guards []guard, depth int) (err error) {
	r.text, r.guards, r.root = text, guards, root
	for side := range 2 {
		at := map[string]path{}
		for name, p := range r.at[side] {
			at[name] = root[side].with(p...)
			if depth > 0 && !exists(c.pair.schemas[side], at[name]) {
				return nil
			}
		}
		r.at[side] = at
	}
	if text.Transitional || text.DefaultFrom != "" && text.DefaultFrom != "schema" {
		return fmt.Errorf("transitional")
	}
	r.values, r.hubValues = yamlTable(text.Values), yamlTable(text.HubValues)
	for side, texts := range [2][3]string{{text.ToSpoke, text.WhenToSpoke, "Spoke"}, {text.ToHub, text.WhenToHub, "Hub"}} {
		if r.expr[side], err = compile(c.env, texts[0]); err != nil {
			return err
		}
		if r.when[side], err = compile(c.env, texts[1]); err != nil {
			return err
		}
		r.omit[side] = text.OmitEmpty == texts[2] || text.OmitEmpty == "Both"
	}
	r.defaults = [2]any{yamlValue(&text.DefaultInSpoke), yamlValue(&text.DefaultInHub)}
	if text.Go != "" {
		f, ok := c.functions[text.Go]
		if !ok {
			return fmt.Errorf("go: %s", text.Go)
		}
		r.function = &f
	}
	if r.oneSided() && text.MayBeAbsent != "" && r.defaults == [2]any{} && text.Drop == "" {
		return nil // it says something about what is required only
	}
	c.pair.rules = append(c.pair.rules, &r)
	if text.Use == "" {
		return nil
	}
	set, ok := c.sets[text.Use]
	if !ok || depth > 40 {
		return fmt.Errorf("rule set %s", text.Use)
	}
	inner := [2]path{r.at[spoke][""], r.at[hub][""]}
	if r.when != [2]*expression{} {
		guards = append(slices.Clip(guards), guard{inner, r.when, fmt.Sprintf("%p", &r)})
	}
	return c.add(set, inner, guards, depth+1)
}

// exists reports whether a schema has a place.
func exists(s *Schema, p path) bool {
	for _, st := range p {
		var ok bool
		switch st.kind {
		case field:
			s, ok = member(s, st.name)
		case each:
			s, ok = member(s, "\x00")
		default:
			ok = s == nil || s.Type == "array" || s.XPreserveUnknownFields
			s = element(s)
		}
		if !ok {
			return false
		}
	}
	return true
}

// moves reports whether a rule moves its value as it is.
func (r *rule) moves() bool {
	return len(r.at[spoke]) == 1 && len(r.at[hub]) == 1 && r.text.Template == "" && r.text.Codec == "" &&
		r.function == nil && r.expr == [2]*expression{} && len(r.values.from) == 0 && len(r.hubValues.from) == 0
}

// decides reports whether a condition or an expression decides whether the rule gives something.
func (r *rule) decides() bool {
	return r.expr != [2]*expression{} || r.when != [2]*expression{} || r.function != nil
}

// holds reports whether a place of the rule is below another place.
func (r *rule) holds(side int, place path) bool {
	for _, at := range r.at[side] {
		if len(at) > len(place) && below(at.String(), place.String()) {
			return true
		}
	}
	return false
}

// implicit returns the pairs of elements that rules for places in them make.
func (p *pair) implicit() []*rule {
	var out []*rule
	seen := map[string]bool{}
	for _, r := range p.rules {
		s, h := anyPath(r.at[spoke]), anyPath(r.at[hub])
		for n := 1; n <= min(s.scopes(), h.scopes()); n++ {
			at := [2]path{s[:s.scopeOf(n)], h[:h.scopeOf(n)]}
			key := at[spoke].String() + " " + at[hub].String()
			if !seen[key] && len(p.claims[spoke][at[spoke].String()]) == 0 && len(p.claims[hub][at[hub].String()]) == 0 {
				out = append(out, &rule{at: [2]map[string]path{{"": at[spoke]}, {"": at[hub]}}, guards: r.guards})
			}
			seen[key] = true
		}
	}
	return out
}

func (r *rule) rank() int {
	if r.moves() {
		return len(r.at[spoke][""])
	}
	return 1000
}

// oneSided reports whether a rule only says that its place has no other.
func (r *rule) oneSided() bool {
	return (len(r.at[spoke]) == 0 || len(r.at[hub]) == 0) && r.expr == [2]*expression{}
}

// claimed reports whether a rule other than one that moves what is around a place names the place.
func (p *pair) claimed(side int, place string, mover *rule) bool {
	return slices.ContainsFunc(p.claims[side][place], func(r *rule) bool {
		return r != mover && r.within(mover)
	})
}

// within reports whether the rule applies wherever another does.
func (r *rule) within(mover *rule) bool {
	return !slices.ContainsFunc(r.guards, func(g guard) bool {
		return !slices.ContainsFunc(mover.guards, func(h guard) bool { return h.key == g.key }) &&
			(mover.at[spoke][""].String() != g.at[spoke].String() || mover.when != g.when)
	})
}

// picked returns the pick that an element belongs to, or a step for the others.
func (p *pair) picked(side int, list path, e any, i int) step {
	for _, s := range p.picks[side][list.String()] {
		if m, ok := object(e); s.kind == first && i == 0 || s.kind == pick && ok && equal(get(m, s.name), s.value) {
			return s
		}
	}
	return step{kind: items}
}

// child returns the step to a member of an object: a field, or an entry that no rule names.
func (p *pair) child(side int, at path, s *Schema, name string) step {
	st := step{kind: field, name: name}
	if len(at) > 0 && at[0].name == "metadata" || !isMap(s, name) {
		return st
	}
	place := at.with(st).String()
	for claim := range p.claims[side] {
		if below(claim, place) {
			return st
		}
	}
	return step{kind: each}
}
