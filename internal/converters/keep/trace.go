package keep

import "github.com/crdconvert/webhookd/internal/document/jsondoc"

// A Trace says where the elements of a conversion's result come from. Rules that go through a list
// or map may leave elements out, and turn a list into a map. The zero Trace is that of an object
// without such lists. While a program runs, a pointer to a part is valid until the next part of the
// same is added (BenchmarkKinds in converters/rules).
type Trace struct {
	first, last *ListTrace
	memory      *Memory
}

// A ListTrace says for each element of a result which one of the source it was made of. The object
// that a rule set applies to has one inner trace.
type ListTrace struct {
	of       any
	next     *ListTrace // of the same trace
	memory   *Memory
	elements []elementTrace
	at       map[string]int // the indexes by names, made by the first named
}

type elementTrace struct {
	from  Source
	inner Trace
}

// A Source is an element of a list, or an entry of a map.
type Source struct {
	Index int
	Name  string
}

// Add adds a list or a map of so many elements, or the object of a rule set, as Place.Of and
// Place.Use name it. Without a trace it does nothing.
func (t *Trace) Add(of any, elements int) *ListTrace {
	if t == nil {
		return nil
	}
	if t.memory == nil {
		t.memory = &Memory{}
	}
	l := t.memory.lists.Add(ListTrace{of: of, memory: t.memory, elements: t.memory.elements.Room(elements)})
	if t.first == nil {
		t.first = l
	} else {
		t.last.next = l
	}
	t.last = l
	return l
}

// Enter adds an element, and returns its trace.
func (l *ListTrace) Enter(from Source) *Trace {
	if l == nil {
		return nil
	}
	l.elements = append(l.elements, elementTrace{from: from, inner: Trace{memory: l.memory}})
	return &l.elements[len(l.elements)-1].inner
}

// named returns the index of the element of a map's entry, or -1.
func (l *ListTrace) named(name string) int {
	if l.at == nil {
		l.at = map[string]int{}
		for i := range l.elements {
			l.at[l.elements[i].from.Name] = i
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
		l.elements = l.elements[:len(l.elements)-1]
	}
}

func (t *Trace) list(of any) *ListTrace {
	if t == nil || of == nil {
		return nil
	}
	l := t.first
	for l != nil && l.of != of {
		l = l.next
	}
	return l
}

// ruleSet returns the trace of the object that a rule set applies to.
func (t *Trace) ruleSet(of any) *Trace {
	if l := t.list(of); l != nil && len(l.elements) > 0 {
		return &l.elements[0].inner
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
	if index < 0 || index >= len(l.elements) {
		return nil, nil, nil
	}
	at := &l.elements[index]
	if list.Kind() == jsondoc.Map {
		n, err := list.Member(at.from.Name)
		return n, &at.inner, err
	}
	n, err := list.Element(at.from.Index)
	return n, &at.inner, err
}
