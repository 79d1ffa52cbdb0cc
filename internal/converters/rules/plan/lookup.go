package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// InTurn is named for the members of an object one after the other: the API server writes them in the order of their names,
// which is that of the places, so that the next one is mostly the right one (BenchmarkConvert).
func (p *Node) InTurn(name []byte, next *int) *Node {
	if i := *next; i < len(p.Kids) && p.Kids[i].At.Name == string(name) {
		*next++
		return p.Kids[i]
	}
	i, found := p.search(name)
	if found {
		*next = i + 1
		return p.Kids[i]
	}
	return p.another(name)
}

// named is kid for a name that is no string yet.
func (p *Node) named(name []byte) *Node {
	if i, found := p.search(name); found {
		return p.Kids[i]
	}
	return p.another(name)
}

// search returns which of the kids has a name.
func (p *Node) search(name []byte) (int, bool) {
	low, high := 0, len(p.Kids)
	for low < high {
		switch mid := (low + high) / 2; {
		case p.Kids[mid].At.Name == string(name):
			return mid, true
		case p.Kids[mid].At.Name < string(name):
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

// another returns the place of a member that is none of the kids.
func (p *Node) another(name []byte) *Node {
	if p.Others == nil || slices.Contains(p.calm, string(name)) {
		return nil
	}
	return p.Others
}

// Kid returns the place of a member, or nil.
func (p *Node) Kid(name string) *Node {
	if p == nil {
		return nil
	}
	return p.named([]byte(name))
}

// Kind returns the kind of the values of a collection.
func (c Collection) Kind() jsondoc.Kind {
	if c == Dict {
		return jsondoc.Map
	}
	return jsondoc.Array
}

// OpensObject reports whether the parts of an object are places of their own.
func (p *Node) OpensObject() bool {
	return p != nil && !p.Shared() && (p.Disposition == Through || p.Disposition == Stays && p.Src.MayBeObject() && (p.Dst.MayBeObject() || p.Elem != nil)) &&
		(p.Elem == nil || p.Elem.From == Dict)
}

// Shared is true of a place that moves to one place or another: what is in it has no counterpart that is known beforehand.
func (p *Node) Shared() bool { return p.Move != nil && (p.Move.MayLose || len(p.Rules) > 1) }

// OpensList is opensObject for the elements of a list.
func (p *Node) OpensList() bool {
	return p != nil && !p.Shared() && p.Disposition == Stays && p.Elem != nil && p.Elem.From == List && len(p.Picks) == 0 && !p.Shifts
}

// Part returns the place of a member of an object, or of the value of a map.
func (p *Node) Part(name string) *Node {
	if p == nil {
		return nil
	}
	if p.Elem != nil {
		return p.Elem.Program.Root
	}
	if k := p.Kid(name); k != nil || p.Sub == nil {
		return k
	}
	return p.Sub.Root.Kid(name)
}

// Branches returns the rules that move or compute a place as their guards say, or none if it is no union.
func (p *Node) Branches() []*Rule {
	if p == nil || len(p.Rules) < 2 {
		return nil
	}
	guarded := slices.DeleteFunc(slices.Clone(p.Rules), func(l *Rule) bool { return l.Guard == nil || len(l.In) != 1 || len(l.Out) == 0 })
	if len(guarded) < 2 {
		return nil
	}
	return guarded
}
