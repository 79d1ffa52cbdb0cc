package keep

import "github.com/crdconvert/webhookd/internal/jsondoc"

// A Trace says where the elements of a conversion's result come from. Rules that go through a list
// or map may leave elements out, and turn a list into a map. The zero Trace is that of an object
// without such lists.
type Trace struct {
	lists []*ListTrace
}

// A ListTrace says for each element of a result which one of the source it was made of. The object
// that a rule set applies to has one inner trace.
type ListTrace struct {
	of    any
	from  []Source
	inner []*Trace       // of each
	at    map[string]int // the indexes by names, made by the first named
}

// A Source is an element of a list, or an entry of a map.
type Source struct {
	Index int
	Name  string
}

// Add adds a list, a map or the object of a rule set, as Place.Of and Place.Use name it. Without a
// trace it does nothing.
func (t *Trace) Add(of any) *ListTrace {
	if t == nil {
		return nil
	}
	l := &ListTrace{of: of}
	t.lists = append(t.lists, l)
	return l
}

// Enter adds an element, and returns its trace.
func (l *ListTrace) Enter(from Source) *Trace {
	if l == nil {
		return nil
	}
	t := &Trace{}
	l.from, l.inner = append(l.from, from), append(l.inner, t)
	return t
}

// named returns the index of the element of a map's entry, or -1.
func (l *ListTrace) named(name string) int {
	if l.at == nil {
		l.at = map[string]int{}
		for i, f := range l.from {
			l.at[f.Name] = i
		}
	}
	if i, ok := l.at[name]; ok {
		return i
	}
	return -1
}

// Drop removes the last element, of which nothing is left in the result.
func (l *ListTrace) Drop() {
	if l != nil {
		l.from, l.inner = l.from[:len(l.from)-1], l.inner[:len(l.inner)-1]
	}
}

func (t *Trace) list(of any) *ListTrace {
	if t == nil || of == nil {
		return nil
	}
	for _, l := range t.lists {
		if l.of == of {
			return l
		}
	}
	return nil
}

// ruleSet returns the trace of the object that a rule set applies to.
func (t *Trace) ruleSet(of any) *Trace {
	if l := t.list(of); l != nil && len(l.inner) > 0 {
		return l.inner[0]
	}
	return nil
}

// source returns the value of the source that an element of the result was made of, or nil, and
// the trace of what is in it. Unless there is a trace, elements are where they were.
func (l *ListTrace) source(list *jsondoc.Node, index int) (*jsondoc.Node, *Trace, error) {
	if l == nil {
		n, err := list.Element(index)
		return n, nil, err
	}
	if index < 0 || index >= len(l.from) {
		return nil, nil, nil
	}
	at := l.from[index]
	if list.Kind() == jsondoc.Map {
		n, err := list.Member(at.Name)
		return n, l.inner[index], err
	}
	n, err := list.Element(at.Index)
	return n, l.inner[index], err
}
