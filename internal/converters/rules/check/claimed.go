package check

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A claimed tree has the claims of a side by their places. Of those that overlap with a later one in the same way it knows the
// first, so that each claim is compared with a few others, however many there are.
type claimed struct {
	side  binding.Side
	root  claimedPlace
	below map[*claimedPlace]map[segmentKey]*claimedPlace
}

// A segmentKey is a segment, wherever it was written.
type segmentKey struct {
	kind        syntax.SegmentKind
	name, value string
}

// A claimedPlace has numbers of claims, from 1; 0 is none.
type claimedPlace struct {
	first  int // of the place
	single int // the first that no other rule may share the place with, whatever its guard
	whole  int // the first by a rule that has all below the place, too
	last   int
	inside int // the first below the place
	all    []int
}

func newClaimed(s binding.Side) *claimed {
	return &claimed{side: s, below: map[*claimedPlace]map[segmentKey]*claimedPlace{}}
}

// before adds a claim, which has a number from 0, and returns the earlier ones that it may overlap with, in their order.
func (t *claimed) before(number int, c claim) []int {
	number++
	var found []int
	add := func(numbers ...int) {
		for _, n := range numbers {
			if n > 0 {
				found = append(found, n-1)
			}
		}
	}
	at := &t.root
	for _, by := range c.Segments {
		add(at.whole)
		if at.inside == 0 {
			at.inside = number
		}
		at = t.step(at, by)
	}
	add(at.first, at.single, at.last)
	if c.elements != nil {
		add(at.all...) // each pairs the list with something
	}
	if c.hasAll() {
		add(at.inside)
	}
	t.claim(at, number, c)
	slices.Sort(found)
	return slices.Compact(found)
}

// hasAll reports whether the claim is on all below its place.
func (c claim) hasAll() bool { return c.rule != nil && c.rule.How != binding.Pairs }

func (t *claimed) claim(at *claimedPlace, number int, c claim) {
	if at.first == 0 {
		at.first = number
	}
	at.last = number
	at.all = append(at.all, number)
	if c.rule == nil {
		return
	}
	if at.single == 0 && (!writes(c.rule, t.side) || !guarded(c.rule, t.side)) {
		at.single = number
	}
	if at.whole == 0 && c.hasAll() {
		at.whole = number
	}
}

func (t *claimed) step(at *claimedPlace, by syntax.Segment) *claimedPlace {
	if t.below[at] == nil {
		t.below[at] = map[segmentKey]*claimedPlace{}
	}
	key := segmentKey{by.Kind, by.Name, by.Value}
	if t.below[at][key] == nil {
		t.below[at][key] = &claimedPlace{}
	}
	return t.below[at][key]
}
