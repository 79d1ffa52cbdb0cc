package compare

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Difference is a place with another value than before. The path is as conversion rules write it,
// so it has no index and no key of a map. Was and Is are JSON, empty if absent.
type Difference struct{ Path, Was, Is string }

func (d Difference) samePath(other Difference) bool { return d.Path == other.Path }

// differences returns the places at which two values differ: the outermost ones that only one of
// them has, and the innermost ones that both have.
func differences(n *crdschema.Node, was, is any) []Difference {
	return appendDifferences(n, was, is, "", nil)
}

func appendDifferences(n *crdschema.Node, was, is any, path string, all []Difference) []Difference {
	if tree.Equal(was, is) {
		return all
	}
	x, okX := was.(map[string]any)
	y, okY := is.(map[string]any)
	if okX && okY {
		for _, name := range tree.Names(x, y) {
			step, next := jsondoc.FormatPath(name), n.Property(name)
			if next == nil && n.Values() != nil {
				step, next = "{}", n.Values()
			}
			all = appendDifferences(next, tree.At(x, name), tree.At(y, name), path+step, all)
		}
		return all
	}
	l, okL := was.([]any)
	m, okM := is.([]any)
	if okL && okM && len(l) == len(m) {
		for i := range l {
			all = appendDifferences(n.Items(), l[i], m[i], path+"[]", all)
		}
		return all
	}
	if d := (Difference{path, tree.Text(was), tree.Text(is)}); !slices.Contains(all, d) {
		all = append(all, d)
	}
	return all
}
