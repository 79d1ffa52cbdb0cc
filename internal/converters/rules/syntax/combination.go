package syntax

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A combination checks the keys of a rule as a whole, for what is wrong whatever the CRD says.
type combination struct {
	parser *parser
	rule   *Rule
	given  map[string]*yaml.Node // the keys, whether or not their values could be read
}

func (c combination) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.given[name] != nil })
}

// say reports a finding at a key, or at the rule if the key is empty.
func (c combination) say(key, code, hint, format string, args ...any) {
	message := c.rule.String() + ": " + fmt.Sprintf(format, args...)
	if key == "" {
		c.parser.say(c.rule.Pos, code, message, hint)
		return
	}
	c.parser.sayAt(c.given[key], code, message, hint)
}

func (c combination) check() {
	switch {
	case !c.has("spoke", "hub"):
		c.say("", "rule-without-place", "write spoke, hub, or both", "neither spoke nor hub names a place")
		return
	case c.has("spoke") && c.has("hub") && (isListed(c.rule.Spoke) || isListed(c.rule.Hub)):
		c.list()
		return
	case c.has("drop"):
		c.drop()
	case c.has("spoke") && c.has("hub"):
		c.pair()
	default:
		c.oneSided()
	}
	if c.has("absent") && !c.has("template") {
		c.say("absent", "absent-without-template", "add template, or remove absent", "absent is for parts of a template")
	}
	c.defaults("defaultInSpoke", c.rule.Spoke, c.rule.DefaultInSpoke)
	c.defaults("defaultInHub", c.rule.Hub, c.rule.DefaultInHub)
	c.iterations()
}

func isListed(p *Place) bool { return p != nil && p.listed }

// list reports a list of places in a pair, and takes it out.
func (c combination) list() {
	key := "spoke"
	if !isListed(c.rule.Spoke) {
		key = "hub"
	}
	for _, place := range []**Place{&c.rule.Spoke, &c.rule.Hub} {
		if isListed(*place) {
			*place = nil
		}
	}
	c.say(key, "list-in-a-pair", "write a rule for each pair, or named paths for places that are converted together: {name: .path}",
		"%s is a list, which goes only with rules of one side", key)
}

func (c combination) drop() {
	if c.has("spoke") && c.has("hub") {
		c.say("drop", "drop-of-a-pair", "remove drop, or name only the side that is dropped", "drop is for a place that the other side does not have")
		return
	}
	for _, key := range append(slices.Concat(transforms()...), "whenToHub", "whenToSpoke", "omitEmpty", "unmapped") {
		if c.has(key) {
			c.say(key, "drop-and-more", "remove one of them", "%s has no effect, because drop loses the value", key)
		}
	}
}

// transforms returns groups of keys. A rule may have keys of one group.
func transforms() [][]string {
	return [][]string{{"values", "hubValues"}, {"template", "absent"}, {"codec"}, {"toHub", "toSpoke"}, {"use"}, {"go"}}
}

func (c combination) pair() {
	first := ""
	for _, group := range transforms() {
		i := slices.IndexFunc(group, func(key string) bool { return c.has(key) })
		switch {
		case i < 0:
		case first == "":
			first = group[i]
		default:
			c.say(group[i], "two-transforms", "keep one; two steps are one expression in toHub and toSpoke",
				"%s and %s both convert the value", first, group[i])
		}
	}
	if c.has("toHub") != c.has("toSpoke") {
		have, lack := "toHub", "toSpoke"
		if c.has("toSpoke") {
			have, lack = lack, have
		}
		c.say(have, "half-a-pair", "add "+lack+"; if the other side has no such place, remove its path",
			"%s without %s: the reverse conversion is missing", have, lack)
	}
	c.names(first)
	if c.has("omitEmpty") && (c.has("use") || !isSingle(c.rule.Spoke) || !isSingle(c.rule.Hub)) {
		c.say("omitEmpty", "omit-empty-of-several", "leave values out with optional.none() in toHub and toSpoke",
			"omitEmpty is for one value on each side")
	}
}

// isSingle reports whether a place that could be read is one path without a name.
func isSingle(p *Place) bool { return p == nil || !p.Named }

// names checks which keys go with named paths.
func (c combination) names(transform string) {
	spoke, hub := c.rule.Spoke, c.rule.Hub
	if spoke == nil || hub == nil {
		return
	}
	switch transform {
	case "":
		if spoke.Named != hub.Named {
			c.say("", "named-paths-alone", "add template, toHub and toSpoke, or go", "there are named paths, but no key says how to convert them")
		}
	case "values", "hubValues", "codec", "use":
		if spoke.Named || hub.Named {
			hint := "write one path on each side, or use toHub and toSpoke"
			c.say(transform, "named-paths-with-one-value", hint, "%s converts one value, but one side has named paths", transform)
		}
	case "template":
		if spoke.Named == hub.Named {
			c.say("template", "template-places", "name the paths of the parts: {host: .host, port: .port}",
				"template needs one path for the text, and named paths for its parts on the other side")
		}
	}
}

// oneSided checks a rule with one place, whose value is kept or computed.
func (c combination) oneSided() {
	side, other := "spoke", "hub"
	computed, guard, pointless := "toSpoke", "whenToSpoke", []string{"toHub", "whenToHub", "defaultInHub"}
	if c.has("hub") {
		side, other = other, side
		computed, guard, pointless = "toHub", "whenToHub", []string{"toSpoke", "whenToSpoke", "defaultInSpoke"}
	}
	converts := false
	for _, key := range slices.Concat(transforms()...) {
		if c.has(key) && key != "toHub" && key != "toSpoke" {
			c.say(key, "half-a-rule", "add "+other, "%s converts between spoke and hub, but there is no %s", key, other)
			converts = true
		}
	}
	for _, key := range pointless {
		if c.has(key) {
			c.say(key, "wrong-direction", "add "+other+", or remove "+key,
				"%s applies to the %s side, but the rule has only %s", key, other, side)
		}
	}
	if c.has("omitEmpty") {
		c.say("omitEmpty", "omit-empty-without-pair", "remove it, or add "+other, "omitEmpty is for a value that both versions have, but there is no %s", other)
	}
	if c.has("unmapped") {
		c.say("unmapped", "unmapped-without-pair", "remove it, or add "+other, "unmapped is about fields below a pair, but there is no %s", other)
	}
	if c.has(guard) && !c.has(computed) && !converts {
		c.say(guard, "guard-without-effect", "remove it, or compute the value with "+computed,
			"%s guards nothing: the value is kept, not computed", guard)
	}
}

// defaults checks the form of a default of named paths.
func (c combination) defaults(key string, place *Place, literal *Literal) {
	if place == nil || literal == nil || !place.Named {
		return
	}
	names := make([]string, 0, len(place.Paths))
	for _, n := range place.Paths {
		names = append(names, n.Name)
	}
	known := strings.Join(names, ", ")
	if literal.Members == nil {
		c.parser.say(literal.Pos, "default-without-names", fmt.Sprintf("%s: %s is one value, but the paths have names", c.rule, key),
			"write {NAME: VALUE} for the names that need one: "+known)
	}
	for _, m := range literal.Members {
		if !slices.Contains(names, m.Name) {
			message := fmt.Sprintf("%s: %s has a value for %.64s, but no path has that name", c.rule, key, m.Name)
			c.parser.say(m.NamePos, "default-for-no-path", message, "the names are "+known)
		}
	}
}

// Iteration returns a path up to its last iterating segment, or nothing if no segment iterates.
func Iteration(path []Segment) []Segment {
	for i, s := range slices.Backward(path) {
		if s.Iterates() {
			return path[:i+1]
		}
	}
	return nil
}

// iterations checks the iterating segments of both places: they say which elements belong together.
func (c combination) iterations() {
	spoke, hub := c.rule.Spoke, c.rule.Hub
	if !c.samePrefix(spoke) || !c.samePrefix(hub) || spoke == nil || hub == nil {
		return
	}
	spokes, hubs := iterating(spoke), iterating(hub)
	for i := range max(len(spokes), len(hubs)) {
		switch {
		case i >= len(spokes):
			c.sayUnpaired(hub, hubs[i], "spoke")
			return
		case i >= len(hubs):
			c.sayUnpaired(spoke, spokes[i], "hub")
			return
		case !c.pairs(spokes[i], hubs[i]):
			return
		}
	}
}

func iterating(p *Place) []Segment {
	if len(p.Paths) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Paths[0].Path.Segments), func(s Segment) bool { return !s.Iterates() })
}

// samePrefix reports a named path that does not go through the same elements as the first one.
func (c combination) samePrefix(p *Place) bool {
	if p == nil || len(p.Paths) == 0 || p.listed {
		return true
	}
	first := p.Paths[0].Path
	for _, n := range p.Paths[1:] {
		if !slices.EqualFunc(Iteration(first.Segments), Iteration(n.Path.Segments), Segment.Equal) {
			message := fmt.Sprintf("%s: the paths %s and %s do not go through the same elements", c.rule, first, n.Path)
			c.parser.say(n.Pos, "paths-of-other-elements", message, "named paths share everything up to the last of [], {}, [name] and {name}")
			return false
		}
	}
	return true
}

// sayUnpaired reports a segment that has no counterpart on the other side.
func (c combination) sayUnpaired(p *Place, s Segment, other string) {
	c.parser.sayIn(p.Paths[0].origin, s.Offset, s.End, "unpaired-elements",
		fmt.Sprintf("%s: %s names any number of places, but %s has no such segment to pair it with", c.rule, s, other),
		"go through elements on both sides; for one element, write [name=x] or [0]")
}

// pairs checks two segments that go through elements side by side.
func (c combination) pairs(spoke, hub Segment) bool {
	keyed := func(s Segment) bool { return s.Kind == KeyedElements || s.Kind == KeyedValues }
	problem, hint := "", ""
	switch {
	case keyed(spoke) && keyed(hub):
		if spoke.Name == hub.Name {
			return true
		}
		problem = fmt.Sprintf("%s and %s do not use the same key", spoke, hub)
		hint = fmt.Sprintf("write the same name in both; for a key that is renamed, pair [] with [] and add a rule for .%s", spoke.Name)
	case spoke.Kind == hub.Kind:
		return true
	default:
		problem = fmt.Sprintf("%s and %s cannot be paired", spoke, hub)
		hint = "by index: [] with []; by the same key of a map: {} with {}; by key: [name] or {name} with [name] or {name}"
	}
	c.parser.sayIn(c.rule.Hub.Paths[0].origin, hub.Offset, hub.End, "elements-do-not-pair", c.rule.String()+": "+problem, hint)
	return false
}
