package syntax

import (
	"fmt"
	"slices"
)

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
