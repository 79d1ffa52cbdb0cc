package keep

import (
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Peers are the counterparts of the elements of a list with keys.
type peers struct {
	list cursor
	size int // of the list
	of   finder
}

func newPeers(list cursor, size int) *peers { return &peers{list: list, size: size} }

// find returns the counterpart of the element with some keys, or nil, and whether it is tracked. At
// is the element's index, or -1 if the list lacks it: a rule may have taken all of it away.
func (p *peers) find(keys []Key, at int) (peer *jsondoc.Node, tracked bool) {
	if p == nil {
		return nil, false
	}
	there, known := p.list.place.keysThere(keys)
	peer, tracked = p.list.paired(at, p.size)
	switch {
	case !known, peer != nil && hasKeys(peer, there):
		return peer, tracked
	case p.list.peer.Kind() == jsondoc.Map && len(keys) == 1 && strings.HasPrefix(keys[0].Value, `"`):
		peer, _ = p.list.peer.Member(jsondoc.Unquote([]byte(keys[0].Value)))
	case p.list.peer.Kind() == jsondoc.Array:
		if p.of.of == nil {
			list, err := p.list.peer.Elements()
			if err != nil {
				return nil, false
			}
			p.of = finder{of: p.list.peer, list: list}
		}
		peer, _, _ = p.of.part(Step{Keys: there})
	}
	return peer, p.list.tracked && peer != nil
}

// keysThere returns the keys that the counterpart of an element has, and whether they are known.
func (p *Place) keysThere(keys []Key) ([]Key, bool) {
	if p == nil || !p.Moved {
		return keys, true
	}
	there := make([]Key, 0, len(keys))
	for _, k := range keys {
		name := p.KeyNames[k.Name]
		if name == "" {
			return nil, false
		}
		there = append(there, Key{name, k.Value})
	}
	return there, true
}
