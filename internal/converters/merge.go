package converters

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A merger makes the text of an object, which is that of the source, the text of the target. Beside a node of the text it
// is given was and now, what the Go values of source and target encode to at that path, and their types.
//
// What was does not have, the source's Go type did not represent: it stays where it is, goes to rest, or is a problem; see
// HubSpoke. All problems are collected.
type merger struct {
	from, to string
	rest     *jsondoc.Object // nil while there is none
	problems []error
}

// missing stands for a value that is not there, as nil is null.
type missing struct{}

func isMissing(v any) bool { _, is := v.(missing); return is }

// memberOf returns the member of a value that is an object or is not there.
func memberOf(v any, name string) any {
	if object, ok := v.(map[string]any); ok {
		if member, found := object[name]; found {
			return member
		}
	}
	return missing{}
}

func isObjectOrMissing(v any) bool {
	_, object := v.(map[string]any)
	return object || isMissing(v)
}

func (m *merger) report(err error) {
	if err != nil {
		m.problems = append(m.problems, err)
	}
}

// lose reports that a value of the source would not be in the target.
func (m *merger) lose(n *jsondoc.Node) {
	m.report(&jsondoc.PathError{
		Problem: fmt.Sprintf("the Go types of %s and %s would lose this, add it to both", m.from, m.to), Path: n.Path(),
	})
}

// members merges the members of an object, at a path, which is nil in a list. Was and now are objects or missing.
func (m *merger) members(n *jsondoc.Node, path []string, was, now any, source, target reflect.Type) {
	list, err := entries(n)
	m.report(err)
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		seen[e.name] = true
		if path != nil && len(path) == 0 && isHead(e.name) {
			continue
		}
		c := mergedMember{node: e.value, parent: target}
		if path != nil {
			c.path = append(slices.Clip(path), e.name)
		}
		c.was, c.now = memberOf(was, e.name), memberOf(now, e.name)
		c.source, c.sourceKnows = typeOfMember(source, e.name)
		c.target, c.targetKnows = typeOfMember(target, e.name)
		if !m.member(c) {
			m.report(n.RemoveMember(e.name))
		}
	}
	object, _ := now.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if seen[name] {
			continue
		}
		if v := added(memberOf(was, name), object[name]); !isMissing(v) {
			m.set(n, name, v)
		}
	}
}

// isHead is true of the members of an object that are no part of the merge.
func isHead(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

func (m *merger) set(n *jsondoc.Node, name string, v any) {
	value, err := render(v, n.Path())
	if err == nil {
		err = n.SetMember(name, value)
	}
	m.report(err)
}

// A mergedMember is a member that the source's text has, what the Go values say of it, and whether the Go types know it;
// parent is the target's type of the object that it is in, nil if the target does not know that.
type mergedMember struct {
	node                     *jsondoc.Node
	path                     []string
	was, now                 any
	parent, source, target   reflect.Type
	sourceKnows, targetKnows bool
}

// member merges the value of a member and reports whether the target's text has it.
func (m *merger) member(c mergedMember) bool {
	kind := c.node.Kind()
	switch {
	case !isMissing(c.now):
		m.value(c.node, c.path, c.was, c.now, c.source, c.target, c.sourceKnows)
	case !isMissing(c.was):
		return m.moved(c)
	case !c.targetKnows && (c.sourceKnows || c.parent == nil):
		m.keep(c)
		return false
	case !c.targetKnows || kind == jsondoc.Null:
	case kind == jsondoc.Map:
		m.members(c.node, c.path, c.was, c.now, c.source, c.target)
	case !c.sourceKnows && !meansNothing(c.node):
		m.lose(c.node)
	}
	return true
}

// moved takes away what the source's Go type knows, which the function has put elsewhere, and reports whether something
// is left that it does not know.
func (m *merger) moved(c mergedMember) bool {
	if _, object := c.was.(map[string]any); object && c.node.Kind() == jsondoc.Map {
		m.members(c.node, c.path, c.was, missing{}, c.source, c.target)
		return !empty(c.node)
	}
	m.unknown(c.node, c.was, c.source)
	return false
}

// keep puts a value that the target has no place for into the rest. In a list there is no telling its place when it comes
// back, so there what means nothing goes, and anything else is a problem.
func (m *merger) keep(c mergedMember) {
	if c.sourceKnows && !meansNothing(c.node) || c.path == nil {
		if c.sourceKnows {
			m.unknown(c.node, c.was, c.source)
		} else if !meansNothing(c.node) {
			m.lose(c.node)
		}
		return
	}
	if m.rest == nil {
		m.rest = emptyObject()
	}
	v, err := jsondoc.RawValue(c.node.Text())
	if err == nil {
		err = m.rest.Set(v, c.path...)
	}
	m.report(err)
}

// restore gives n what an earlier conversion kept of it in a rest: where n has the object that it was in, and nothing in
// its place. What that conversion would not have put there, somebody else did, and it is ignored.
func (m *merger) restore(n, rest *jsondoc.Node, path []string, source, target reflect.Type) {
	list, err := entries(rest)
	m.report(err)
	for _, e := range list {
		if len(path) == 0 && isHead(e.name) {
			continue
		}
		s, sourceKnows := typeOfMember(source, e.name)
		t, targetKnows := typeOfMember(target, e.name)
		there, err := n.Member(e.name)
		m.report(err)
		switch {
		case there.Kind() == jsondoc.Map && e.value.Kind() == jsondoc.Map:
			m.restore(there, e.value, append(slices.Clip(path), e.name), s, t)
		case there == nil && n.Kind() == jsondoc.Map && !sourceKnows &&
			(targetKnows && meansNothing(e.value) && fits(e.value, t) || !targetKnows && source == nil):
			v, err := jsondoc.RawValue(e.value.Text())
			if err == nil {
				err = n.SetMember(e.name, v)
			}
			m.report(err)
		}
	}
}

// value merges a value that the target has.
func (m *merger) value(n *jsondoc.Node, path []string, was, now any, source, target reflect.Type, sourceKnows bool) {
	same := reflect.DeepEqual(was, now)
	_, object := now.(map[string]any)
	old, oldList := was.([]any)
	list, isList := now.([]any)
	switch {
	case same && source == target:
	case object && n.Kind() == jsondoc.Map && isObjectOrMissing(was):
		m.members(n, path, was, now, source, target)
	case oldList && isList && n.Kind() == jsondoc.Array:
		m.elements(n, old, list, source, target)
	case same:
	default:
		if isMissing(was) && !sourceKnows && n.Kind() != jsondoc.Null {
			m.lose(n)
		} else if n.Kind() == jsondoc.Map || n.Kind() == jsondoc.Array {
			m.unknown(n, was, source)
		}
		if v := added(was, now); !isMissing(v) {
			m.replace(n, v)
		}
	}
}

func (m *merger) replace(n *jsondoc.Node, v any) {
	value, err := render(v, n.Path())
	if err != nil {
		m.report(err)
		return
	}
	n.Replace(value)
}

// elements merges a list. An element that was in the list keeps its text wherever it is now; the others are taken for the
// changed ones at their index if the list is as long as it was.
func (m *merger) elements(n *jsondoc.Node, was, now []any, source, target reflect.Type) {
	list, err := entries(n)
	m.report(err)
	if len(list) != len(was) {
		m.unknown(n, missing{}, source)
		m.replace(n, now)
		return
	}
	source, target = typeOfElement(source), typeOfElement(target)
	from, used := matchElements(was, now)
	inPlace := len(was) == len(now)
	texts := make([][]byte, len(now))
	for i := range now {
		j := from[i]
		if j < 0 && len(was) == len(now) && !used[i] {
			j, used[i] = i, true
		}
		if j < 0 {
			value, err := render(now[i], n.Path())
			m.report(err)
			texts[i] = value.Text()
			continue
		}
		inPlace = inPlace && i == j
		m.value(list[j].value, nil, was[j], now[i], source, target, true)
		texts[i] = list[j].value.Text()
	}
	for j := range list {
		if !used[j] {
			m.unknown(list[j].value, was[j], source)
		}
	}
	if !inPlace {
		m.report(replaceElements(n, texts))
	}
}

// unknown reports everything in a value, which will be gone, that the source's Go type did not represent, but for what
// means nothing: nulls and zero values.
func (m *merger) unknown(n *jsondoc.Node, was any, source reflect.Type) {
	list, err := entries(n)
	m.report(err)
	elements, _ := was.([]any)
	for i, e := range list {
		if n.Kind() == jsondoc.Array {
			if i < len(elements) {
				m.unknown(e.value, elements[i], typeOfElement(source))
			}
			continue
		}
		t, known := typeOfMember(source, e.name)
		v := memberOf(was, e.name)
		if isMissing(v) && !known && e.value.Kind() != jsondoc.Null {
			m.lose(e.value)
		} else {
			m.unknown(e.value, v, t)
		}
	}
	if literal, ok := was.(json.Number); ok && n.Kind() == jsondoc.Number && !sameNumber(string(n.Text()), literal.String()) {
		m.lose(n)
	}
}

// added returns what now says that was does not; missing if that is nothing. A Go type says the zero of each field that
// has no omitempty, whether the object has the field or not: this keeps such noise out of the object.
func added(was, now any) any {
	to, ok := now.(map[string]any)
	if from, both := was.(map[string]any); both && ok {
		more := make(map[string]any)
		for name := range to {
			if v := added(memberOf(from, name), to[name]); !isMissing(v) {
				more[name] = v
			}
		}
		if len(more) == 0 {
			return missing{}
		}
		return more
	}
	if reflect.DeepEqual(was, now) {
		return missing{}
	}
	return now
}

func fits(n *jsondoc.Node, t reflect.Type) bool {
	return decode(n.Text(), reflect.New(t).Interface()) == nil
}

// sameNumber compares as the API server does: integers as int64, everything else as float64.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return x == y
	}
	f, errF := strconv.ParseFloat(a, 64)
	g, errG := strconv.ParseFloat(b, 64)
	return errF == nil && errG == nil && f == g
}

// meansNothing is true of null, of the zero values that omitempty drops, and of objects of them.
func meansNothing(n *jsondoc.Node) bool {
	switch n.Kind() {
	case jsondoc.Null:
		return true
	case jsondoc.Bool:
		return string(n.Text()) == "false"
	case jsondoc.Number:
		return sameNumber(string(n.Text()), "0")
	case jsondoc.String:
		return string(n.Text()) == `""`
	case jsondoc.Map:
		nothing := true
		err := n.Each(func(_ string, value *jsondoc.Node) bool {
			nothing = meansNothing(value)
			return nothing
		})
		return nothing && err == nil
	default:
		return empty(n)
	}
}

// empty reports whether an array or object has nothing in it.
func empty(n *jsondoc.Node) bool {
	nothing := true
	err := n.Each(func(string, *jsondoc.Node) bool {
		nothing = false
		return false
	})
	return nothing && err == nil
}
