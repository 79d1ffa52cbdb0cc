package keep

import (
	"context"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/keep/slab"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// lookEvery is how often a deadline looks at its context, in values.
const lookEvery = 256

// A deadline looks at the context of a call now and then, since each look takes a lock. All walkers
// through one object share it.
type deadline struct {
	ctx  context.Context //nolint:containedctx // lives as long as one call
	done int             // values since the last look
}

func newDeadline(ctx context.Context) *deadline { return &deadline{ctx, lookEvery} }

// passed counts values. When a look is due, it returns the error of the context.
func (d *deadline) passed(values int) error {
	if d.done += values; d.done < lookEvery {
		return nil
	}
	d.done = 0
	return d.ctx.Err()
}

// A walker goes through an object, for a differ or a restorer. Paths start at the root of the
// object, or again at an element of a list without keys.
type walker struct {
	memory   *Memory
	deadline *deadline
	object   *jsondoc.Node
	path     annotation.Path
	values   []*jsondoc.Node // on the path, from its start to its end; nil for none
	watched  []watched       // the missing places on the path that units watch
	finder   finder          // of the last list of the other version
	err      error           // the first error, which ends the walk
}

func newWalker(ctx context.Context, m *Memory, obj *jsondoc.Object) walker {
	values := make([]*jsondoc.Node, 1, 2*usualLevels)
	values[0] = obj.Node
	return walker{memory: m, deadline: newDeadline(ctx), object: obj.Node, path: make(annotation.Path, 0, usualLevels), values: values}
}

const usualLevels = 8

// startingAt returns a walker for a value where paths start again. It uses the same memory, so only
// one of the two walks at a time.
func (w *walker) startingAt(n *jsondoc.Node) walker {
	sub := *w
	sub.path, sub.values, sub.watched, sub.err = w.path[len(w.path):], w.values[len(w.values):], nil, nil
	sub.values = append(sub.values, n)
	return sub
}

func (w *walker) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

// stopped counts one value, and reports whether the walk has ended.
func (w *walker) stopped() bool {
	if w.err == nil {
		w.err = w.deadline.passed(1)
	}
	return w.err != nil
}

func (w *walker) elements(list *jsondoc.Node) []*jsondoc.Node {
	if list.Kind() != jsondoc.Array {
		return nil
	}
	_, err := list.Element(0) // Len has no error
	w.note(err)
	all := w.memory.nodes.Room(list.Len())
	for i := range list.Len() {
		e, _ := list.Element(i)
		all = append(all, e)
	}
	return all
}

// shown returns the value at the end of the path, or nil.
func (w *walker) shown() *jsondoc.Node { return w.values[len(w.values)-1] }

// push moves to a part of the value, and pop back.
func (w *walker) push(s annotation.PathElement, part *jsondoc.Node) {
	w.path, w.values = append(w.path, s), append(w.values, part)
}

func (w *walker) pop() {
	w.path, w.values = w.path[:len(w.path)-1], w.values[:len(w.values)-1]
}

// missing notes that nothing is at a place, until the walk returns to the number of watched places
// before. What the schema fills in is not missing.
func (w *walker) missing(c cursor) (before int) {
	before = len(w.watched)
	if _, filled := c.schema.Default(); c.place != nil && (!filled || c.given) {
		if c.place.Watch != nil {
			w.watched = append(w.watched, watched{c.place.Watch, c.scope})
		}
		if c.hasUnit() {
			w.watched = append(w.watched, watched{[]*Unit{c.unit}, c.unitScope})
		}
	}
	return before
}

// counterpart returns the counterpart of an element that the conversion back does not give: a rule
// may have taken all of it elsewhere.
func (w *walker) counterpart(list cursor, keys []annotation.Key) *jsondoc.Node {
	there, known := list.place.keysThere(keys)
	switch kind := list.there.Kind(); {
	case !known || !list.tracked:
	case kind == jsondoc.Map && len(keys) == 1 && strings.HasPrefix(keys[0].Value, `"`):
		n, err := list.there.Member(jsondoc.Unquote([]byte(keys[0].Value)))
		w.note(err)
		return n
	case kind == jsondoc.Array:
		if w.finder.of != list.there {
			w.finder = w.finderOf(list.there, list.other.Items())
		}
		n, _, err := w.finder.part(annotation.PathElement{Keys: there})
		w.note(err)
		return n
	}
	return nil
}

// A Memory holds entries and what they are found with, for one object after the other. Everything
// in it is valid until Reset. The zero Memory is empty. It is not safe for concurrent use.
type Memory struct {
	annotation.Memory
	tries    slab.Slab[trie]
	children slab.Slab[*trie]
	nodes    slab.Slab[*jsondoc.Node]
	lists    slab.Slab[ListTrace]
	elements slab.Slab[elementTrace]
}

// Reset drops everything, and keeps some memory for the next object.
func (m *Memory) Reset() {
	m.Memory.Reset()
	m.tries.Reset()
	m.children.Reset()
	m.nodes.Reset()
	m.lists.Reset()
	m.elements.Reset()
}

// Trace returns an empty trace in the memory.
func (m *Memory) Trace() *Trace { return &Trace{memory: m} }
