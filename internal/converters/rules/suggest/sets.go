package suggest

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A ruleSet has rules for several objects, with paths from there.
type ruleSet struct {
	name  string
	rules []guess
}

// share returns guesses of which those that are the same in several objects are in a rule set, if
// that saves lines.
func (d *draft) share(guesses []guess, objects []pair) []guess {
	for _, p := range objects { // outer ones first
		rules := below(guesses, p)
		at := slices.DeleteFunc(slices.Clone(objects), func(o pair) bool { return !reflect.DeepEqual(below(guesses, o), rules) })
		if len(rules)*(len(at)-1) <= len(at) || !slices.ContainsFunc(rules, func(g guess) bool { return g.sure }) {
			continue
		}
		name := regexp.MustCompile(`\w+`).FindString(p[ofHub].path[strings.LastIndexByte(p[ofHub].path, '.')+1:])
		name = strings.ToUpper(name[:1]) + name[1:]
		if slices.ContainsFunc(d.sets, func(s ruleSet) bool { return s.name == name }) {
			name += fmt.Sprint(len(d.sets) + 1)
		}
		d.sets = append(d.sets, ruleSet{name, rules})
		for _, o := range at {
			use := guess{[2][]string{{o[ofVersion].path}, {o[ofHub].path}}, "use: " + name, "the same rules in several objects", true}
			guesses = slices.DeleteFunc(guesses, func(g guess) bool {
				return len(below([]guess{g}, o)) > 0 || g.keys == "" && reflect.DeepEqual(g.ends, use.ends)
			})
			guesses = append(guesses, use)
		}
	}
	return guesses
}

// below returns the guesses about what is in two objects, with paths from there.
func below(guesses []guess, at pair) (all []guess) {
	for _, g := range guesses {
		inside := true
		for side, ends := range g.ends {
			g.ends[side] = nil
			for _, path := range ends {
				rest, ok := strings.CutPrefix(path, at[side].path)
				inside = inside && ok && strings.HasPrefix(rest, ".")
				g.ends[side] = append(g.ends[side], rest)
			}
		}
		if inside {
			all = append(all, g)
		}
	}
	return all
}
