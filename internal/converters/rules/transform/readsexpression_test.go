//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package transform_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestReadsOfMadeExpressions is TestReadsAreAllThatIsRead for random expressions, made of
// everything that hands on parts of the object.
func TestReadsOfMadeExpressions(t *testing.T) {
	t.Parallel()
	l := newReadsLab(t)
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a seed
	compiled, done := 0, 0
	for range *edits {
		m := maker{generator: generator{random}}
		const depth = 4
		text := m.result(depth)
		made := l.compile(t, text, "self", "out")
		if made == nil {
			continue // it may cost too much
		}
		compiled++
		const each = 20
		for range each {
			if l.edit(t, made, random, text) {
				done++
			}
		}
	}
	if compiled < *edits/2 || done < compiled {
		t.Errorf("%d of %d expressions compile, and saw %d edits", compiled, *edits, done)
	}
}

// A maker makes expressions of a type, and remembers the variables of the comprehensions around
// them.
type maker struct {
	generator

	elements []string // variables that are elements of lo
	strings  []string
	names    int
}

func (m *maker) result(depth int) string {
	switch m.IntN(6) {
	case 0:
		return m.text(depth)
	case 1:
		return m.condition(depth)
	case 2:
		return m.element(depth)
	case 3:
		return m.list(depth)
	case 4:
		return fmt.Sprintf("[%s, %s].size()", m.element(depth), m.element(depth))
	}
	return fmt.Sprintf(`{"a": %s, %s: %s}.a`, m.element(depth), m.text(depth-1), m.element(depth))
}

func (m *maker) text(depth int) string {
	if depth <= 0 {
		if len(m.strings) > 0 && m.IntN(2) == 0 {
			return m.pick(m.strings...)
		}
		return m.pick(`"x"`, `"k"`, "object.spec.s", "object.spec.o.p", `object.spec.m["k"]`, "object.spec.l[0]", `object.spec.?s.orValue("y")`)
	}
	depth--
	switch m.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s ? %s : %s)", m.condition(depth), m.text(depth), m.text(depth))
	case 1, 2:
		return m.element(depth) + m.pick(".kind", ".name")
	case 3:
		return fmt.Sprintf("object.spec.m[%s]", m.text(depth))
	case 4:
		return fmt.Sprintf("object.spec.?o.?p.orValue(%s)", m.text(depth))
	case 5:
		return fmt.Sprintf("object.spec.mo[%s].a", m.text(depth))
	case 6:
		return fmt.Sprintf("(%s + %s)", m.text(depth), m.text(depth))
	case 7:
		return fmt.Sprintf("optional.of(%s).optMap(%s, %s).orValue(%s)", m.element(depth), m.bound(&m.elements), m.text(depth), m.unbound(&m.elements, depth))
	}
	return m.text(0)
}

// bound returns a new variable, which is known until unbound.
func (m *maker) bound(variables *[]string) string {
	m.names++
	*variables = append(*variables, fmt.Sprintf("v%d", m.names))
	return fmt.Sprintf("v%d", m.names)
}

func (m *maker) unbound(variables *[]string, depth int) string {
	*variables = (*variables)[:len(*variables)-1]
	return m.text(depth)
}

func (m *maker) condition(depth int) string {
	if depth <= 0 {
		return m.pick("has(object.spec.s)", "has(object.spec.o.q.r)", "object.spec.?i.hasValue()", `"k" in object.spec.m`, "size(object.spec.l) > 1", `has(object.spec.any.x)`)
	}
	depth--
	switch m.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s == %s)", m.text(depth), m.text(depth))
	case 1:
		return fmt.Sprintf("(%s %s %s)", m.condition(depth), m.pick("&&", "||"), m.condition(depth))
	case 2, 3:
		over := m.list(depth)
		text := fmt.Sprintf("%s.%s(%s, %s)", over, m.pick("exists", "all", "exists_one"), m.bound(&m.elements), m.condition(depth))
		m.elements = m.elements[:len(m.elements)-1]
		return text
	case 4:
		text := fmt.Sprintf("object.spec.m.exists(%s, %s)", m.bound(&m.strings), m.condition(depth))
		m.strings = m.strings[:len(m.strings)-1]
		return text
	case 5:
		return fmt.Sprintf("(%s in object.spec.%s)", m.text(depth), m.pick("l", "m", "mo"))
	case 6:
		return fmt.Sprintf("(size(%s) > 1)", m.list(depth))
	case 7:
		return fmt.Sprintf("(%s == %s)", m.element(depth), m.element(depth))
	}
	return m.element(depth) + ".on"
}

func (m *maker) element(depth int) string {
	if len(m.elements) > 0 && (depth <= 0 || m.IntN(2) == 0) {
		return m.pick(m.elements...)
	}
	if depth <= 0 {
		return m.pick("object.spec.lo[0]", "object.spec.lo[1]", "object.spec.lo[object.spec.i]")
	}
	depth--
	switch m.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s ? %s : %s)", m.condition(depth), m.element(depth), m.element(depth))
	case 1:
		return fmt.Sprintf("[%s, %s][%d]", m.element(depth), m.element(depth), m.IntN(2))
	case 2:
		return fmt.Sprintf("%s[?%d].orValue(%s)", m.list(depth), m.IntN(2), m.element(depth))
	case 3:
		return fmt.Sprintf(`{%s: %s}["x"]`, m.text(depth), m.element(depth))
	}
	return fmt.Sprintf("%s[%d]", m.list(depth), m.IntN(2))
}

func (m *maker) list(depth int) string {
	if depth <= 0 {
		return "object.spec.lo"
	}
	depth--
	switch m.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s + %s)", m.list(depth), m.list(depth))
	case 1:
		return fmt.Sprintf("(%s ? %s : %s)", m.condition(depth), m.list(depth), m.list(depth))
	case 2, 3:
		over := m.list(depth)
		text := fmt.Sprintf("%s.filter(%s, %s)", over, m.bound(&m.elements), m.condition(depth))
		m.elements = m.elements[:len(m.elements)-1]
		return text
	case 4:
		over := m.list(depth)
		text := fmt.Sprintf("%s.map(%s, %s)", over, m.bound(&m.elements), m.element(depth))
		m.elements = m.elements[:len(m.elements)-1]
		return text
	}
	return fmt.Sprintf("[%s]", m.element(depth))
}
