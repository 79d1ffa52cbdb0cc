package syntax

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A combination judges the keys of a rule as a whole: some can never be right together, whatever the CRD says.
type combination struct {
	parser *parser
	rule   *Rule
	given  map[string]*yaml.Node // the keys, read or not
}

func (c combination) has(names ...string) bool {
	for _, name := range names {
		if c.given[name] != nil {
			return true
		}
	}
	return false
}

// say reports at a key, or at the rule if the key is empty.
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
	case !c.has("field", "hub"):
		c.say("", "rule-without-place", "write field, hub, or both", "neither field nor hub names a place")
		return
	case c.has("drop"):
		c.drop()
	case c.has("field") && c.has("hub"):
		c.pair()
	default:
		c.oneSided()
	}
	c.partners()
	c.defaults()
	c.iterations()
}

func (c combination) drop() {
	if c.has("field") && c.has("hub") {
		c.say("drop", "drop-of-a-pair", "remove drop, or name the side that is dropped only", "drop is for a place that the other side does not have")
		return
	}
	for _, key := range []string{"values", "hubValues", "template", "absent", "codec", "toHub", "fromHub", "when", "whenHub", "use", "go"} {
		if c.has(key) {
			c.say(key, "drop-and-more", "remove one of them", "what drop loses, %s cannot convert", key)
		}
	}
}

// transforms are the groups of keys of which a rule may have one.
func transforms() [][]string {
	return [][]string{{"values", "hubValues"}, {"template", "absent"}, {"codec"}, {"toHub", "fromHub"}, {"use"}, {"go"}}
}

func (c combination) pair() {
	first := ""
	for _, group := range transforms() {
		for _, key := range group {
			if !c.has(key) {
				continue
			}
			if first != "" {
				c.say(key, "two-transforms", "keep one; two steps are one expression in toHub and fromHub", "%s and %s both convert the value", first, key)
			} else {
				first = key
			}
			break
		}
	}
	if c.has("toHub") != c.has("fromHub") {
		have, lack := "toHub", "fromHub"
		if c.has("fromHub") {
			have, lack = lack, have
		}
		c.say(have, "half-a-pair", "add "+lack+"; a place that the other side does not have is a rule with one of field and hub",
			"%s without %s: the way back is not known", have, lack)
	}
	c.names(first)
}

// names judges which keys go with named paths.
func (c combination) names(transform string) {
	field, hub := c.rule.Field, c.rule.Hub
	if field == nil || hub == nil {
		return
	}
	named := field.Named || hub.Named
	switch transform {
	case "":
		if field.Named != hub.Named {
			c.say("", "named-paths-alone", "add template, toHub and fromHub, or go", "named paths, and nothing says how they are converted")
		}
	case "values", "hubValues", "codec", "use":
		if named {
			hint := "write one path on each side, or use toHub and fromHub"
			c.say(transform, "named-paths-with-one-value", hint, "%s converts one value, and a side has named paths", transform)
		}
	case "template":
		if field.Named == hub.Named {
			c.say("template", "template-places", "name the paths of the parts: {host: .host, port: .port}",
				"template needs one path with the text, and named paths for its parts on the other side")
		}
	}
}

// oneSided judges a rule with one place that is kept, or computed.
func (c combination) oneSided() {
	side, other := "field", "hub"
	computed, pointless := "fromHub", []string{"toHub", "when", "hubDefault"}
	guard := "whenHub"
	if c.has("hub") {
		side, other = other, side
		computed, pointless = "toHub", []string{"fromHub", "whenHub", "default"}
		guard = "when"
	}
	for _, key := range []string{"values", "hubValues", "template", "absent", "codec", "use", "go"} {
		if c.has(key) {
			c.say(key, "half-a-rule", "add "+other, "%s converts between field and hub, and there is no %s", key, other)
		}
	}
	for _, key := range pointless {
		if c.has(key) {
			c.say(key, "wrong-direction", "add "+other+", or remove "+key, "%s is about the %s side, and the rule has only %s", key, other, side)
		}
	}
	if c.has(guard) && !c.has(computed) && !c.has("values", "template", "codec", "use", "go") {
		c.say(guard, "guard-without-effect", "remove it, or compute the value with "+computed, "%s guards nothing: the value is kept, not computed", guard)
	}
}

// partners judges keys that need another one.
func (c combination) partners() {
	if c.has("absent") && !c.has("template") {
		c.say("absent", "absent-without-template", "add template, or remove absent", "absent is for parts of a template")
	}
	if c.has("hubValues") && !c.has("values") {
		c.say("hubValues", "hub-values-without-values", "add values", "hubValues adds to values, and there are none")
	}
}

// defaults judges the form of defaults of named paths.
func (c combination) defaults() {
	for _, d := range []struct {
		key     string
		place   *Place
		literal *Literal
	}{{"default", c.rule.Field, c.rule.Default}, {"hubDefault", c.rule.Hub, c.rule.HubDefault}} {
		if d.place == nil || d.literal == nil || !d.place.Named {
			continue
		}
		if d.literal.Members == nil {
			c.parser.say(d.literal.Pos, "default-without-names", fmt.Sprintf("%s: %s is one value, and the paths have names", c.rule, d.key),
				"write {NAME: VALUE} for those that need one: "+strings.Join(d.place.names(), ", "))
			continue
		}
		for _, m := range d.literal.Members {
			if d.place.Path(m.Name) == nil {
				message := fmt.Sprintf("%s: %s has a value for %.64s, and no path has that name", c.rule, d.key, m.Name)
				c.parser.say(m.NamePos, "default-for-no-path", message, "the names are "+strings.Join(d.place.names(), ", "))
			}
		}
	}
}

// Path returns the path of that name, or nil. The name of a path that is alone is empty.
func (p *Place) Path(name string) *NamedPath {
	for i := range p.Paths {
		if p.Paths[i].Name == name {
			return &p.Paths[i]
		}
	}
	return nil
}

func (p *Place) names() []string {
	names := make([]string, 0, len(p.Paths))
	for _, n := range p.Paths {
		names = append(names, n.Name)
	}
	return names
}
