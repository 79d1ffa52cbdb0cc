package annotation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

const (
	// maxTotal limits all annotations of an object, in bytes of their names and values
	// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
	maxTotal = 256 << 10
	// MaxAnnotations is how many annotations a version may have before they are grouped.
	// Server-side apply lists the owners of each in managedFields.
	MaxAnnotations = 200
	maxNamed       = 5 // paths in a message
	// lookEvery is how often a deadline is looked at, in entries: each look takes a lock.
	lookEvery = 256
)

// Put writes the entries of a version into annotations of obj. It fails with a *TooLargeError if
// all annotations are larger than the API server allows.
func Put(ctx context.Context, obj *jsondoc.Object, version string, entries []*Entry) error {
	if len(entries) == 0 {
		return nil
	}
	annotations, err := annotationsOf(obj)
	if err != nil {
		return err
	}
	groups, err := grouped(ctx, entries)
	if err != nil {
		return err
	}
	var text []byte
	of := label(version)
	for _, g := range groups {
		var name string
		name, text = g.annotation(of, text[:0])
		// Only an annotation in an unknown format may have the name already.
		if err := annotations.SetMember(name, jsondoc.StringValue(text)); err != nil {
			return err
		}
	}
	if rough, err := roughSize(annotations); rough <= maxTotal || err != nil {
		return err
	}
	return checkSize(annotations, version, entries)
}

// roughSize returns the size of annotations as they are spelt, at least what the API server counts.
func roughSize(annotations *jsondoc.Node) (int, error) {
	size := 0
	err := annotations.Filter(func(name []byte, m jsondoc.Member) bool {
		size += len(name) + len(m.Value().Text())
		return true
	})
	return size, err
}

// annotationsOf returns the annotations of an object, and creates them if there are none.
func annotationsOf(obj *jsondoc.Object) (*jsondoc.Node, error) {
	n, err := obj.Get("metadata", "annotations")
	if err != nil || n.Kind() == jsondoc.Map {
		return n, err
	}
	empty, _ := jsondoc.RawValue([]byte("{}"))
	if err := obj.Set(empty, "metadata", "annotations"); err != nil {
		return nil, err
	}
	return obj.Get("metadata", "annotations")
}

// checkSize fails if the API server would refuse the annotations.
func checkSize(annotations *jsondoc.Node, version string, entries []*Entry) error {
	total, kept := 0, 0
	err := annotations.Each(func(name string, value *jsondoc.Node) bool {
		text, _ := value.Str()
		total += len(name) + len(text)
		if IsOwn(name) {
			kept += len(name) + len(text)
		}
		return true
	})
	if err != nil || total <= maxTotal {
		return err
	}
	return &TooLargeError{jsondoc.PathError{
		Problem: fmt.Sprintf("what only %s can say takes %d bytes of annotations, which may have %d with the %d of others: "+
			"get the object at %s and make these fields smaller there", version, kept, maxTotal, total-kept, version),
		Path: strings.Join(largest(entries), ", "),
	}}
}

// A TooLargeError says that the entries do not fit into the annotations of the object, which paths
// are largest, and at which version to make them smaller.
type TooLargeError struct{ jsondoc.PathError }

// largest returns the paths of the largest entries.
func largest(entries []*Entry) []string {
	size := map[string]int{}
	for _, e := range entries {
		size[e.Path.String()] += len(e.appendJSON(nil, true, 0))
	}
	paths := slices.SortedFunc(maps.Keys(size), func(a, b string) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b))
	})
	return paths[:min(len(paths), maxNamed)]
}

// A group is what one annotation keeps: an entry, or all entries below a path.
type group struct {
	path    Path
	entries []*Entry
}

// grouped returns a group for each entry. If these are too many, it groups by the first steps of
// the paths, as many steps as give few enough groups.
func grouped(ctx context.Context, entries []*Entry) ([]group, error) {
	if len(entries) <= MaxAnnotations {
		// An order has the same path as other entries of the list.
		if slices.ContainsFunc(entries, func(e *Entry) bool { return e.Kind == KindOrder }) {
			return byPath(ctx, entries, MaxSteps, len(entries))
		}
		groups := make([]group, 0, len(entries))
		for i, e := range entries {
			groups = append(groups, group{e.Path, entries[i : i+1]})
		}
		return groups, nil
	}
	least, most := 1, 1
	for _, e := range entries {
		most = max(most, len(e.Path))
	}
	for least < most {
		depth := (least + most + 1) / 2
		switch groups, err := byPath(ctx, entries, depth, MaxAnnotations); {
		case err != nil:
			return nil, err
		case groups == nil:
			most = depth - 1
		default:
			least = depth
		}
	}
	return byPath(ctx, entries, least, len(entries))
}

// byPath groups entries by the first steps of their paths, or returns nil if that gives more than
// most groups.
func byPath(ctx context.Context, entries []*Entry, depth, most int) ([]group, error) {
	var groups []group
	var key []byte
	at := make(map[string]int, min(most, MaxAnnotations))
	for n, e := range entries {
		if n%lookEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		path := e.Path[:min(depth, len(e.Path))]
		key = path.AppendJSON(key[:0])
		i, found := at[string(key)]
		if !found {
			if i = len(groups); i == most {
				return nil, nil
			}
			at[string(key)], groups = i, append(groups, group{path: path})
		}
		groups[i].entries = append(groups[i].entries, e)
	}
	for i := range groups {
		if g := &groups[i]; len(g.entries) == 1 {
			g.path = g.entries[0].Path
		}
	}
	return groups, nil
}

// annotation returns the name of the group's annotation, and appends its text to dst.
func (g *group) annotation(label string, dst []byte) (name string, text []byte) {
	name, simple := Name(label, g.path)
	if len(g.entries) == 1 {
		return name, g.entries[0].appendJSON(dst, !simple, 0)
	}
	text = appendEntries(append(dst, `{"parts":`...), g.entries, len(g.path))
	if !simple {
		text = g.path.AppendJSON(append(text, `,"path":`...))
	}
	return name, append(text, '}')
}
