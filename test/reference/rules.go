package reference

import (
	"encoding/json"
	"fmt"
	"maps"
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

type rule struct {
	text              ruleText
	at                [2]map[string]path // by name
	values, hubValues table
	expr, when        [2]*expression // by the side of the result
	defaults          [2]any
	omit              [2]bool
	function          *Function
	users             []*rule // those that apply the rule's set, the outermost first
}

// pair is the rules between one version and the hub.
type pair struct {
	schemas [2]*Schema
	rules   []*rule
	ordered []*rule // those that move values first, outer places before inner ones
	copied  *rule   // moves what no rule names
	claims  [2]map[string][]*rule
	keys    [2]map[string]string // the key of a list that a rule names with [name]
	picks   [2]map[string]path   // by list
	paired  [2]map[string]path   // lists and maps that the other side has for these
	units   []*unit
	inputs  [2]map[string][]unitPlace
}

type compiler struct {
	*pair

	env       *cel.Env
	sets      map[string][]ruleText
	functions map[string]Function
}

func (c *compiler) compile(texts []ruleText) error {
	c.copied = &rule{at: [2]map[string]path{{"": nil}, {"": nil}}}
	if err := c.add(texts, nil); err != nil {
		return err
	}
	for side := range 2 {
		c.claims[side], c.picks[side], c.keys[side] = map[string][]*rule{}, map[string]path{}, map[string]string{}
		c.paired[side], c.inputs[side] = map[string]path{}, map[string][]unitPlace{}
		for _, r := range c.rules {
			for _, at := range r.at[side] {
				c.claims[side][at.String()] = append(c.claims[side][at.String()], r)
				for i, s := range at {
					list := at[:i].String()
					switch {
					case s.text == items && s.name != "":
						c.keys[side][list] = s.name
					case s.isPick() && !slices.Contains(c.picks[side][list], s):
						c.picks[side][list] = append(c.picks[side][list], s)
					}
				}
			}
		}
	}
	c.ordered = slices.Concat(c.elementPairs(), c.rules)
	slices.SortStableFunc(c.ordered, func(a, b *rule) int { return a.rank() - b.rank() })
	c.makeUnits()
	return nil
}

// add adds rules, which are those of a set if a rule uses them.
func (c *compiler) add(texts []ruleText, users []*rule) error {
	for _, text := range texts {
		for _, s := range places(text["spoke"]) {
			for _, h := range places(text["hub"]) {
				if err := c.addOne(text, [2]map[string]path{maps.Clone(s), h}, users); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *compiler) addOne(text ruleText, at [2]map[string]path, users []*rule) (err error) {
	r := &rule{text: text, at: at, users: users, values: yamlTable(text["values"]), hubValues: yamlTable(text["hubValues"])}
	for side, name := range []string{"Spoke", "Hub"} {
		for name, p := range at[side] {
			at[side][name] = r.root(side).with(p...)
			if _, ok := schemaAt(c.schemas[side], at[side][name]); !ok && len(users) > 0 {
				return nil // a set may name fields that not all users have
			}
		}
		if r.expr[side], err = compile(c.env, text.get("to"+name)); err != nil {
			return err
		}
		if r.when[side], err = compile(c.env, text.get("whenTo"+name)); err != nil {
			return err
		}
		r.defaults[side] = yamlValue(text["defaultIn"+name])
		r.omit[side] = text.get("omitEmpty") == name || text.get("omitEmpty") == "Both"
	}
	if name := text.get("go"); name != "" {
		f, ok := c.functions[name]
		if !ok {
			return fmt.Errorf("go: %s", name)
		}
		r.function = &f
	}
	if r.oneSided() && text.get("mayBeAbsent") != "" && r.defaults == [2]any{} && text.get("drop") == "" {
		return nil // it says something about what is required only
	}
	c.rules = append(c.rules, r)
	if set := text.get("use"); set != "" {
		if c.sets[set] == nil || len(users) > 40 {
			return fmt.Errorf("rule set %s", set)
		}
		return c.add(c.sets[set], append(slices.Clip(users), r))
	}
	return nil
}

// root returns the place that the rule's set is applied to.
func (r *rule) root(side int) path {
	if len(r.users) == 0 {
		return nil
	}
	return r.users[len(r.users)-1].at[side][""]
}

// place returns a place of a side: of several, one in most elements. Nil is none.
func (r *rule) place(side int) (best path) {
	for _, name := range slices.Sorted(maps.Keys(r.at[side])) {
		if p := r.at[side][name]; best == nil || len(p.elements()) > len(best.elements()) {
			best = p
		}
	}
	return best
}

// moves reports whether a rule moves its value as it is.
func (r *rule) moves() bool {
	return len(r.at[spoke]) == 1 && len(r.at[hub]) == 1 && r.text.get("template") == "" && r.text.get("codec") == "" &&
		!r.computes() && len(r.values.from) == 0 && len(r.hubValues.from) == 0
}

// computes reports whether an expression or a function gives the result.
func (r *rule) computes() bool { return r.expr != [2]*expression{} || r.function != nil }

func (r *rule) conditional() bool { return r.when != [2]*expression{} }

// oneSided reports whether a rule only says that its place has no other.
func (r *rule) oneSided() bool {
	return (len(r.at[spoke]) == 0 || len(r.at[hub]) == 0) && !r.computes()
}

// names reports whether the rule names a place in another one.
func (r *rule) names(side int, place path) bool {
	for _, at := range r.at[side] {
		if len(at) > len(place) && below(at.String(), place.String()) {
			return true
		}
	}
	return false
}

func (r *rule) rank() int {
	if r.moves() {
		return len(r.at[spoke][""])
	}
	return 1000
}

// elementPairs returns the pairs of elements that rules for places in them make, and notes the
// pairs of their lists.
func (p *pair) elementPairs() (out []*rule) {
	seen := map[string]bool{}
	for _, r := range p.rules {
		spokes, hubs := r.place(spoke).elements(), r.place(hub).elements()
		for n := range min(len(spokes), len(hubs)) {
			at := [2]path{spokes[n], hubs[n]}
			for side := range 2 {
				p.paired[side][at[side][:len(at[side])-1].String()] = at[1-side][:len(at[1-side])-1]
			}
			key := at[spoke].String() + " " + at[hub].String()
			if !seen[key] && len(p.claims[spoke][at[spoke].String()]) == 0 && len(p.claims[hub][at[hub].String()]) == 0 {
				out = append(out, &rule{at: [2]map[string]path{{"": at[spoke]}, {"": at[hub]}}, users: r.users})
			}
			seen[key] = true
		}
	}
	return out
}

// claimed reports whether a rule other than one that moves what is around a place names the place.
func (p *pair) claimed(side int, place string, mover *rule) bool {
	return slices.ContainsFunc(p.claims[side][place], func(r *rule) bool { return r != mover && r.appliesWith(mover) })
}

// appliesWith reports whether the rule applies wherever another does.
func (r *rule) appliesWith(mover *rule) bool {
	return !slices.ContainsFunc(r.users, func(user *rule) bool {
		return user.conditional() && user != mover && !slices.Contains(mover.users, user)
	})
}

// picked returns the pick that an element belongs to, or [].
func (p *pair) picked(side int, list path, e any, i int) step {
	for _, s := range p.picks[side][list.String()] {
		if s.text == first && i == 0 || s.text != first && equal(get(e, s.name), s.value) {
			return s
		}
	}
	return step{text: items}
}

// child returns the step to a member of an object: a field, or an entry that no rule names.
func (p *pair) child(side int, at path, s *Schema, name string) step {
	if at.isIn("metadata") || !isMap(s, name) {
		return dot(name)
	}
	place := at.with(dot(name)).String()
	for claim := range p.claims[side] {
		if below(claim, place) {
			return dot(name)
		}
	}
	return step{text: each}
}
