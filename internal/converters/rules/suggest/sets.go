package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// A ruleSet has rules for several objects, with paths from there.
type ruleSet struct {
	name  string
	rules []guess
}

// share returns guesses of which those that repeat in several objects are in a rule set, as long as
// that saves lines.
func (d *draft) share(guesses []guess, objects []pair) []guess {
	for {
		var rules []guess // of the best set, as seen from its places
		var places []pair
		saved := 0
		within := map[string][]guess{}
		objects = slices.DeleteFunc(objects, func(p pair) bool {
			within[p.String()] = below(guesses, p)
			return len(within[p.String()]) < 2
		})
		for i, p := range objects {
			for _, q := range objects[i+1:] {
				common := slices.DeleteFunc(slices.Clone(within[p.String()]), func(g guess) bool { return !slices.ContainsFunc(within[q.String()], g.is) })
				if !slices.ContainsFunc(common, func(g guess) bool { return g.sure }) {
					continue
				}
				at := slices.DeleteFunc(slices.Clone(objects), func(o pair) bool {
					return slices.ContainsFunc(common, func(g guess) bool { return !slices.ContainsFunc(within[o.String()], g.is) })
				})
				if saves := len(common)*(len(at)-1) - len(at); saves > saved {
					rules, places, saved = common, at, saves
				}
			}
		}
		if saved == 0 {
			return guesses
		}
		name := strings.ToUpper(places[0][ofHub].name()[:1]) + places[0][ofHub].name()[1:]
		if slices.ContainsFunc(d.sets, func(s ruleSet) bool { return s.name == name }) {
			name += fmt.Sprint(len(d.sets) + 1)
		}
		d.sets = append(d.sets, ruleSet{name, merged(rules)})
		for _, p := range places {
			use := guess{keys: "use: " + name, reason: "the same rules in several objects", sure: true}
			use.ends[ofVersion], use.ends[ofHub] = []string{p[ofVersion].String()}, []string{p[ofHub].String()}
			guesses = slices.DeleteFunc(guesses, func(g guess) bool {
				at, ok := g.from(p)
				return ok && slices.ContainsFunc(rules, at.is) || g.is(guess{ends: use.ends, sure: true}) // which use implies
			})
			guesses = append(guesses, use)
		}
	}
}

// below returns the guesses about what is in two objects, with paths from there.
func below(guesses []guess, at pair) []guess {
	var all []guess
	for _, g := range guesses {
		if r, ok := g.from(at); ok {
			all = append(all, r)
		}
	}
	return all
}

// from returns a guess with paths from two objects, if all of them lead through these.
func (g guess) from(at pair) (guess, bool) {
	for side, ends := range g.ends {
		g.ends[side] = nil
		for _, path := range ends {
			rest, ok := strings.CutPrefix(path, at[side].String())
			if !ok || rest == "" || rest[0] != '.' {
				return guess{}, false
			}
			g.ends[side] = append(g.ends[side], rest)
		}
	}
	return g, true
}

func (g guess) is(o guess) bool {
	return slices.Equal(g.ends[ofVersion], o.ends[ofVersion]) && slices.Equal(g.ends[ofHub], o.ends[ofHub]) && g.keys == o.keys && g.sure == o.sure
}

// merged returns the guesses with one for all lists of a version whose further elements are kept.
func merged(guesses []guess) []guess {
	var all, rests []guess
	for _, g := range guesses {
		i := slices.IndexFunc(rests, func(r guess) bool {
			return r.sure == g.sure && (len(r.ends[ofVersion]) > 0) == (len(g.ends[ofVersion]) > 0)
		})
		switch {
		case len(g.ends[ofVersion]) > 0 && len(g.ends[ofHub]) > 0:
			all = append(all, g)
		case i < 0:
			rests = append(rests, g)
		default:
			for side, ends := range g.ends {
				rests[i].ends[side] = slices.Concat(rests[i].ends[side], ends)
			}
		}
	}
	return append(all, rests...)
}
