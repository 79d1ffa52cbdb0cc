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
	if p.Others == nil {
		return nil
	}
	if _, calm := slices.BinarySearch(p.calm, string(name)); calm {
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
