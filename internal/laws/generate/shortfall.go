package generate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Shortfall says why Fuzz made fewer objects of a version than it was asked for, or poorer ones.
type Shortfall struct {
	Version string
	// Asked is the number of objects that Fuzz tried to make, Missed how many of them no try made
	// valid, and Different how many differ apart from their metadata.
	Asked, Missed, Different uint64
	// Causes are what the schema has against the missed ones.
	Causes []Refusal
	// Never are places that no object has, as the schema refuses what is made for them.
	Never []Refusal
}

// A production counts what became of objects.
type production struct {
	asked, missed   uint64
	different       map[uint64]bool
	causes, removed Refusals
}

// maxDifferent bounds the objects that are remembered. There is no shortage behind it.
const maxDifferent = 1 << 16

// Counted is [Generator.Object], and counts for [Generator.Shortfall].
func (g *Generator) Counted(seed, index uint64) []byte {
	object, m := g.object(seed, index)
	g.lock.Lock()
	defer g.lock.Unlock()
	p := &g.counted
	p.asked++
	p.removed.Add(m.removed)
	if object == nil {
		p.missed++
		p.causes.Add(m.causes)
	} else if len(p.different) < maxDifferent {
		p.different[m.content] = true
	}
	return object
}

// Shortfall returns what is to be said about the counted objects of a seed, and false if they are
// not fewer or poorer than asked.
func (g *Generator) Shortfall(seed uint64) (Shortfall, bool) {
	p := &g.counted
	short := Shortfall{
		Version: g.version.Name, Asked: p.asked, Missed: p.missed, Different: uint64(len(p.different)), Causes: p.causes.Sorted(), Never: g.never(seed),
	}
	return short, short.Missed > 0 || short.Few() || len(short.Never) > 0
}

// Few reports whether most objects were repeated: the schema allows few.
func (s Shortfall) Few() bool {
	made := s.Asked - s.Missed
	return made >= 100 && s.Different < made/10
}

// maxSearched is how many objects never looks through, and maxNever how many places it looks for.
const maxSearched, maxNever = 300, 32

// never returns the places that were removed from objects because of their values, and that none of
// the objects has.
func (g *Generator) never(seed uint64) []Refusal {
	candidates := slices.DeleteFunc(g.counted.removed.Sorted(), func(r Refusal) bool { return r.Path == "." })
	candidates = candidates[:min(len(candidates), maxNever)]
	paths := map[string][]syntax.Segment{}
	for _, r := range candidates {
		if path, err := tree.ParsePath(r.Path); err == nil {
			paths[r.Path] = path
		}
	}
	for index := uint64(0); index < min(g.counted.asked, maxSearched) && len(paths) > 0; index++ {
		object := g.Object(seed, index)
		if object == nil {
			continue
		}
		root := tree.Read(object)
		for text, path := range paths {
			tree.RemoveAll(root, path, func(any) bool {
				delete(paths, text)
				return false
			})
		}
	}
	never := slices.DeleteFunc(candidates, func(r Refusal) bool { return paths[r.Path] == nil })
	slices.SortStableFunc(never, func(a, b Refusal) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	outer := map[string]bool{}
	return slices.DeleteFunc(never, func(r Refusal) bool {
		within := outer[r.Path]
		for path := range outer {
			within = within || strings.HasPrefix(r.Path, path+".") || strings.HasPrefix(r.Path, path+"[") || strings.HasPrefix(r.Path, path+"{")
		}
		outer[r.Path] = true
		return within
	})
}
