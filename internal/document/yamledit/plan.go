package yamledit

import "strings"

// A plan says what becomes of the entries of a collection that stays one.
type plan struct {
	pairs   map[*entry]*entry // old to new
	olds    map[*entry]*entry // new to old
	added   []*entry          // new ones
	removed []*entry
	// slots are new entries that take the place, and so the comments, of an old one.
	slots map[*entry][]*entry
}

func (p *plan) pair(old, changed *entry) { p.pairs[old], p.olds[changed] = changed, old }

// compare makes the plans for a value and all below it.
func (e *editor) compare(old, changed *entry) {
	before, after := old.value, changed.value
	if equal(before, after) {
		return
	}
	if before.fixed != "" {
		e.refuse(before.fixed)
		return
	}
	if !editable(before, after) {
		if old.path != "" {
			old.keyStays = true
			e.offer(old)
		}
		e.wanted = append(e.wanted, after.entries...)
		return
	}
	p := &plan{pairs: map[*entry]*entry{}, olds: map[*entry]*entry{}, slots: map[*entry][]*entry{}}
	before.plan = p
	if before.kind == mapping {
		e.pairMembers(p, before, after)
	} else {
		pairElements(p, before.entries, after.entries)
	}
	for _, entry := range before.entries {
		switch {
		case p.pairs[entry] != nil:
			e.compare(entry, p.pairs[entry])
		case entry.merged:
			e.refuse(errAnchor)
		default:
			p.removed = append(p.removed, entry)
			e.offer(entry)
		}
	}
	for _, entry := range after.entries {
		if p.olds[entry] == nil {
			p.added = append(p.added, entry)
			e.wanted = append(e.wanted, entry)
		}
	}
}

// editable reports whether entries can be edited one by one.
func editable(old, changed *node) bool {
	return old.kind == changed.kind && old.kind != scalar && len(old.entries) > 0 && len(changed.entries) > 0
}

// offer makes an entry and all below it sources of text.
func (e *editor) offer(old *entry) {
	old.offered = true
	object := objectOf(old.path)
	e.sources[object] = append(e.sources[object], old)
	for _, below := range old.value.entries {
		e.offer(below)
	}
}

// pairMembers pairs members of a name, and members that are renamed.
func (e *editor) pairMembers(p *plan, old, changed *node) {
	seen := make(map[string]bool, len(old.entries))
	for _, entry := range old.entries {
		if seen[entry.name] {
			e.refuse("duplicate key, remove one: " + entry.path)
		}
		seen[entry.name] = true
		if match := changed.get(entry.name); match != nil {
			p.pair(entry, match)
		}
	}
	for _, same := range []func(a, b *entry) bool{renamed, func(a, b *entry) bool { return similar(a.value, b.value) }} {
		for _, member := range old.entries {
			if p.pairs[member] != nil || member.merged {
				continue
			}
			match := only(changed.entries, func(other *entry) bool { return p.olds[other] == nil && same(member, other) })
			if match != nil && only(old.entries, func(other *entry) bool { return p.pairs[other] == nil && same(other, match) }) == member {
				p.pair(member, match)
			}
		}
	}
}

// renamed reports whether a member may be another one with a new name.
func renamed(a, b *entry) bool {
	return equal(a.value, b.value) && (!a.value.trivial() || alikeNames(a.name, b.name))
}

// only returns the one entry that fits, or nil.
func only(entries []*entry, fits func(*entry) bool) *entry {
	var found *entry
	for _, entry := range entries {
		if !fits(entry) {
			continue
		}
		if found != nil {
			return nil
		}
		found = entry
	}
	return found
}

func equal(a, b *node) bool { return a.canonical() == b.canonical() }

// pairElements pairs equal elements in order, between them those with the same identity, and
// between those by position.
func pairElements(p *plan, old, changed []*entry) {
	inOrder(old, changed, func(a, b *entry) bool { return equal(a.value, b.value) }, p, func(old, changed []*entry) {
		inOrder(old, changed, alike, p, func(old, changed []*entry) {
			for i := range min(len(old), len(changed)) {
				p.pair(old[i], changed[i])
			}
		})
	})
}

// alike reports whether two elements have the same identity.
func alike(a, b *entry) bool {
	for _, name := range []string{"name", "key", "id", "metadata"} {
		x, y := a.value.get(name), b.value.get(name)
		if x != nil && y != nil {
			return equal(x.value, y.value)
		}
	}
	return false
}

// maxTable limits the time and memory for two lists that differ.
const maxTable = 1 << 20

// inOrder pairs the longest common subsequence, and hands each gap to between.
func inOrder(old, changed []*entry, same func(a, b *entry) bool, p *plan, between func(old, changed []*entry)) {
	head := 0
	for head < len(old) && head < len(changed) && same(old[head], changed[head]) {
		p.pair(old[head], changed[head])
		head++
	}
	old, changed = old[head:], changed[head:]
	for len(old) > 0 && len(changed) > 0 && same(old[len(old)-1], changed[len(changed)-1]) {
		p.pair(old[len(old)-1], changed[len(changed)-1])
		old, changed = old[:len(old)-1], changed[:len(changed)-1]
	}
	rows, columns := len(old), len(changed)
	if rows == 0 || columns == 0 {
		return
	}
	if rows*columns > maxTable {
		between(old, changed)
		return
	}
	length := make([][]int, rows+1)
	for i := range length {
		length[i] = make([]int, columns+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if same(old[i], changed[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j, fromI, fromJ := 0, 0, 0, 0
	for i < rows && j < columns {
		switch {
		case same(old[i], changed[j]):
			between(old[fromI:i], changed[fromJ:j])
			p.pair(old[i], changed[j])
			i, j = i+1, j+1
			fromI, fromJ = i, j
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	between(old[fromI:], changed[fromJ:])
}

// assignSlots lets new members take the places of removed ones that they seem to be made of.
// Those with text from elsewhere bring comments of their own.
func (p *plan) assignSlots() {
	for _, added := range p.added {
		var best *entry
		most := 0
		for _, old := range p.removed {
			if added.source != nil || old.used {
				continue
			}
			score := affinity(old, added)
			if len(p.removed) == 1 && len(p.added) == 1 {
				score++
			}
			if score > most {
				best, most = old, score
			}
		}
		if best != nil {
			p.slots[best] = append(p.slots[best], added)
		}
	}
}

// affinity says how likely a new member is made of an old one.
func affinity(old, added *entry) int {
	score := 0
	if alikeNames(old.name, added.name) {
		score++
	}
	x, y := bare(old.value), bare(added.value)
	if len(y) >= 2 && strings.Contains(x, y) || len(x) >= 2 && strings.Contains(y, x) {
		score += 2
	}
	return score
}

// alikeNames reports whether names begin alike, or one is part of the other.
func alikeNames(a, b string) bool {
	const enough = 3
	a, b = strings.ToLower(a), strings.ToLower(b)
	common := commonLength(a, b)
	return common >= enough || len(a) >= enough && strings.Contains(b, a) || len(b) >= enough && strings.Contains(a, b)
}

// bare is a scalar without quotes.
func bare(n *node) string {
	if s, ok := n.str(); ok {
		return s
	}
	return n.raw
}
