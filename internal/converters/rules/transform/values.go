package transform

import (
	"errors"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A table maps values by their valueKey. A value that it does not list maps to itself.
type table map[string][]byte

func (t table) of(text []byte) []byte {
	if to, found := t[valueKey(text)]; found {
		return to
	}
	return text
}

// values compiles `values` and `hubValues`.
func (c *compiler) values() Transform {
	if !c.singles() {
		return Transform{} // the parser reports it
	}
	toHub, toSpoke := table{}, table{}
	for _, m := range c.rule.Values {
		c.entry(toHub, toSpoke, m.From, m.To)
	}
	for _, m := range c.rule.HubValues {
		c.hubEntry(toSpoke, m)
	}
	spoke, hub := c.spoke.node(), c.hub.node()
	forward, backward := tableWay(toHub, toSpoke, spoke, hub), tableWay(toSpoke, toHub, hub, spoke)
	if len(c.findings) == 0 {
		r := c.rule
		c.uncovered(toHub, &c.spoke, &c.hub, "values", r.DefaultInSpoke, r.DefaultInHub != nil || r.WhenToHub != nil)
		c.uncovered(toSpoke, &c.hub, &c.spoke, "hubValues", r.DefaultInHub, r.DefaultInSpoke != nil || r.WhenToSpoke != nil)
	}
	return c.checked(forward, backward)
}

// entry adds an entry of values. When several yield the same value, the first is the way back.
func (c *compiler) entry(toHub, toSpoke table, from, to syntax.Scalar) {
	c.checkValue(from, &c.spoke)
	if !isNone(to, &c.hub) {
		c.checkValue(to, &c.hub)
	}
	if _, twice := toHub[valueKey(from.JSON)]; twice {
		c.say(from.Pos, "value-twice", "keep one of them", "values lists %s twice", from.JSON)
		return
	}
	if toHub[valueKey(from.JSON)] = to.JSON; isNone(to, &c.hub) {
		return
	}
	if key := valueKey(to.JSON); toSpoke[key] == nil {
		toSpoke[key] = from.JSON
	}
}

func (c *compiler) hubEntry(toSpoke table, m syntax.Mapping) {
	c.checkValue(m.From, &c.hub)
	if !isNone(m.To, &c.spoke) {
		c.checkValue(m.To, &c.spoke)
	}
	if _, yielded := toSpoke[valueKey(m.From.JSON)]; yielded {
		c.say(m.From.Pos, "hub-value-twice", "remove it: the first entry of values that yields a value is its way back",
			"hubValues lists %s, which has a way back already", m.From.JSON)
		return
	}
	toSpoke[valueKey(m.From.JSON)] = m.To.JSON
}

// isNone reports whether a value says that there is no counterpart: null, where the place cannot be
// null.
func isNone(value syntax.Scalar, s *side) bool {
	return string(value.JSON) == "null" && s.node() != nil && !s.node().Nullable()
}

// checkValue reports a value of a table that the schema does not allow.
func (c *compiler) checkValue(value syntax.Scalar, s *side) {
	node := s.node()
	if Admits(node, value.JSON) {
		return
	}
	if value.JSON[0] == 'n' || !ofType(node, value.JSON) {
		hint := "write a value of that type"
		if node.Kind() == crdschema.String {
			hint = "quote it: YAML does not read it as a string"
		}
		c.say(value.Pos, "value-of-wrong-type", hint, "%s is %s, not %s: %s", value.JSON, rawValue(value.JSON).Kind(), node.Kind(), s.path(0))
		return
	}
	c.say(value.Pos, "value-not-in-enum", didyoumean.Hint(string(value.JSON), node.Enum(), ""),
		"%s is not one of the values that the schema allows (%s): %s", value.JSON, List(node.Enum()), s.path(0))
}

// uncovered reports the values of an enum that have no counterpart. A value that is the default of
// its own side needs none: it means absent.
func (c *compiler) uncovered(t table, from, to *side, key string, absent *syntax.Literal, covered bool) {
	if covered || len(from.nodes) == 0 || from.node() == nil {
		return
	}
	var missing []string
	for _, value := range domain(from.node()) {
		if absent != nil && valueKey(absent.JSON) == valueKey([]byte(value)) {
			continue
		}
		if there := t.of([]byte(value)); !Admits(to.node(), there) && string(there) != "null" {
			missing = append(missing, value)
		}
	}
	if len(missing) == 0 {
		return
	}
	at := c.rule.Pos
	if len(c.rule.Values) > 0 {
		at = c.rule.Values[0].Pos
	}
	c.say(at, "values-incomplete", "add them to "+key+", with null for one that has no counterpart: then "+to.path(0)+" is absent",
		"%s also allows %s, which %s cannot hold", from.path(0), List(missing), to.path(0))
}

// domain returns all values that a schema allows as JSON, or nil if there is no list of them.
func domain(n *crdschema.Node) []string {
	values := slices.Clone(n.Enum())
	if len(values) == 0 && n.Kind() == crdschema.Boolean {
		values = []string{"true", "false"}
	}
	if len(values) > 0 && n.Nullable() && !slices.Contains(values, "null") {
		values = append(values, "null")
	}
	return values
}

var errNoCounterpart = errors.New("the value has no counterpart")

// tableWay returns the direction of table t, whose reverse is back.
func tableWay(t, back table, from, to *crdschema.Node) *Way {
	way := &Way{run: func(_ *Call, in, out []Operand) error {
		text := in[0].Value.Text()
		listed, found := t[valueKey(text)]
		if !found {
			// A value that the source's own schema does not allow may be what a listed one yields.
			if !Admits(from, text) || !Admits(to, text) {
				return errNoCounterpart
			}
			out[0] = in[0]
			return nil
		}
		v, err := jsondoc.RawValue(listed)
		out[0] = Operand{Value: v, Present: true}
		return err
	}}
	values := domain(from)
	if values == nil {
		way.Injective, way.Total = permutes(t, back), tableCovers(t, from, to)
		return way
	}
	way.Injective, way.Total = true, true
	for _, value := range values {
		there := t.of([]byte(value))
		switch {
		case !Admits(to, there):
			way.Total = false
		case valueKey(back.of(there)) != valueKey([]byte(value)):
			way.Injective = false
		}
	}
	return way
}

// permutes reports whether t yields only values that it lists, and back maps each to where it came
// from. Then no two values, listed or not, become the same.
func permutes(t, back table) bool {
	for key, to := range t {
		if _, listed := t[valueKey(to)]; !listed || valueKey(back.of(to)) != key {
			return false
		}
	}
	for key, from := range back { // an entry of hubValues must not match an unlisted value
		if _, listed := t[key]; !listed || valueKey(t.of(from)) != key {
			return false
		}
	}
	return true
}

// tableCovers reports whether the target allows all that t yields, and all that t does not list.
func tableCovers(t table, from, to *crdschema.Node) bool {
	for _, value := range t {
		if !Admits(to, value) {
			return false
		}
	}
	return Covers(to, from)
}

// Admits reports whether a schema allows a value, given as valid JSON text: its type, its enum,
// null only if it is nullable, and no fields that the API server would prune. It ignores bounds and
// patterns, which the API server checks. A nil node allows any value. When members share a name,
// the last one wins.
func Admits(n *crdschema.Node, text []byte) bool {
	return crdschema.Fit{Demands: hasEnum, Meets: inEnum}.Value(n, text)
}

// IsComplete is Admits for a value that must have what the schema requires.
func IsComplete(n *crdschema.Node, text []byte) bool {
	return crdschema.Fit{Complete: true, Demands: hasEnum, Meets: inEnum}.Value(n, text)
}

func hasEnum(n *crdschema.Node) bool { return len(n.Enum()) > 0 }

// ofType is Admits without the enum of the place itself.
func ofType(n *crdschema.Node, text []byte) bool {
	return crdschema.Fit{Demands: func(m *crdschema.Node) bool { return m != n && hasEnum(m) }, Meets: inEnum}.Value(n, text)
}

// AdmitsString is Admits for a string.
func AdmitsString(n *crdschema.Node, value string) bool {
	return Admits(n, jsondoc.StringValue(value).Text())
}

func inEnum(n *crdschema.Node, text []byte) bool {
	const few = 16 // comparing these is faster than making a key
	enum := n.Enum()
	if len(enum) <= few && slices.Contains(enum, string(text)) {
		return true
	}
	return n.EnumHas(valueKey(text), valueKey)
}

// Covers reports whether target admits every value that source admits (see [Admits]).
func Covers(target, source *crdschema.Node) bool {
	switch {
	case target == nil || target == source:
		return true
	case source.Nullable() && !target.Nullable():
		return false
	}
	if enum := source.Enum(); len(enum) > 0 {
		return !slices.ContainsFunc(enum, func(value string) bool { return !Admits(target, []byte(value)) })
	}
	return len(target.Enum()) == 0 && kindCovers(target, source)
}

func kindCovers(target, source *crdschema.Node) bool {
	from := source.Kind()
	switch target.Kind() {
	case crdschema.Object:
		return from == crdschema.Object && membersCover(target, source)
	case crdschema.Map:
		covers := from == crdschema.Map && Covers(target.Values(), source.Values())
		return covers || from == crdschema.Object && eachCovered(target, source)
	case crdschema.Array:
		return from == crdschema.Array && Covers(target.Items(), source.Items())
	case crdschema.Number:
		return from == crdschema.Number || from == crdschema.Integer
	case crdschema.IntOrString:
		return from == crdschema.IntOrString || from == crdschema.Integer || from == crdschema.String
	case crdschema.Any:
		return from != crdschema.None && (from != crdschema.Any && from != crdschema.Object && from != crdschema.Map ||
			membersCover(target, source))
	case crdschema.None:
		return true
	case crdschema.String, crdschema.Integer, crdschema.Boolean:
	}
	return from == target.Kind()
}

// membersCover compares objects member by member.
func membersCover(target, source *crdschema.Node) bool {
	if (source.PreservesUnknown() || source.Kind() == crdschema.Map) && !target.PreservesUnknown() {
		return false
	}
	for _, name := range source.Properties() {
		member := target.Property(name)
		if member == nil && !target.PreservesUnknown() || !Covers(member, source.Property(name)) {
			return false
		}
	}
	return true
}

func eachCovered(target, source *crdschema.Node) bool {
	if source.PreservesUnknown() {
		return false
	}
	return !slices.ContainsFunc(source.Properties(), func(name string) bool {
		return !Covers(target.Values(), source.Property(name))
	})
}
