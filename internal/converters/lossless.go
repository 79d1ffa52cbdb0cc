package converters

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Unit has the paths of values that are computed from one another, by version. For two fields
// that are one string in the other version it is {"v1beta1": {{"hostPort"}}, "v1": {{"host"},
// {"port"}}}.
type Unit map[string][][]string

// Lossless returns the kind with a converter that loses nothing, whatever the kind's own converter
// does. It converts each result back at once. A value that this changes is kept in annotations. The
// conversion to its version restores it as long as the kind's converter gives there, and the object
// shows, what they did when the value was kept. So an edit wins over kept values of the same field
// and of the same unit.
//
// The kind's converter needs no knowledge of this. It is called twice for each conversion, so it
// must also meet its obligations for its own results. A kind that is already lossless, such as that
// of HubSpoke, gets more units.
//
// With the kind's Schemas, no value of another type is restored, even if a user wrote the
// annotation. The converter must leave nothing in an object that its schema lacks, except fields
// that no schema has: it copies these, and they are kept as well, since the API server may know
// them and prune them from another version. Without Schemas any value may be anywhere.
func Lossless(k Kind, units ...Unit) Kind {
	c := &keeper{Converter: k.Converter, versions: k.Versions, units: units, layouts: make(map[direction]*keep.Layout, 2*len(k.Versions))}
	if was, ok := k.Converter.(*keeper); ok {
		c.Converter, c.units = was.Converter, slices.Concat(was.units, units)
	}
	for _, v := range k.Versions {
		for _, d := range []direction{{v, k.Hub}, {k.Hub, v}} {
			c.layouts[d] = &keep.Layout{
				Schema: k.Schemas[d.from], Other: k.Schemas[d.to], OtherVersion: d.to, Root: placesOf(c.units, d), Opaque: true,
			}
		}
	}
	k.Converter = c
	return k
}

type direction struct{ from, to string }

// placesOf returns the places of units in the version that is converted from.
func placesOf(units []Unit, d direction) *keep.Place {
	root := &keep.Place{}
	for _, u := range units {
		unit := keep.NewUnit(membersOf(u[d.from]), membersOf(u[d.to]))
		for _, path := range u[d.from] {
			p := root
			for _, name := range path {
				if p.Members == nil {
					p.Members = map[string]*keep.Place{}
				}
				if p.Members[name] == nil {
					p.Members[name] = &keep.Place{}
				}
				p = p.Members[name]
			}
			p.Unit, p.Moved = unit, true
		}
	}
	return root
}

func membersOf(paths [][]string) []keep.Member {
	members := make([]keep.Member, 0, len(paths))
	for _, path := range paths {
		members = append(members, keep.Member{Path: keep.Names(path...)})
	}
	return members
}

// A keeper keeps what its converter does not give back.
type keeper struct {
	Converter

	versions []string
	units    []Unit
	layouts  map[direction]*keep.Layout // of the version that is converted from, towards the other
	pool     sync.Pool                  // of *scratch
}

// A scratch is memory that conversions reuse.
type scratch struct {
	annotation jsondoc.Document
	search     keep.Searcher
}

// Convert implements Converter.
func (c *keeper) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	source := c.layouts[direction{from, to}]
	if source == nil {
		return c.Converter.Convert(ctx, obj, from, to) // which reports what it lacks
	}
	text, asRead, x := obj.Text(), obj.Untouched(), obj
	if asRead {
		x = obj.Original()
	}
	kept, unknown, err := c.take(ctx, obj, x, keep.Versions{From: from, To: to, All: c.versions}, source)
	if err != nil {
		return err
	}
	exact, err := c.convert(ctx, obj, from, to)
	if err != nil || exact && !unknown && len(kept) == 0 {
		return err
	}
	if !asRead {
		if x, err = jsondoc.ParseObject(text); err != nil {
			return err
		}
	}
	restored, g, err := c.restore(ctx, obj, x, kept, from, to)
	if err != nil {
		return err
	}
	entries, err := keep.Diff(ctx, x, g, obj, source, unknown, restored)
	if err != nil {
		return err
	}
	err = keep.Put(ctx, obj, from, entries)
	if _, is := errors.AsType[*keep.TooLargeError](err); is {
		ReportFrom(ctx).NoteTooLarge()
	}
	return err
}

// take removes kept values from obj and returns them. It also reports whether the original x has
// fields that no schema knows.
func (c *keeper) take(
	ctx context.Context, obj, x *jsondoc.Object, v keep.Versions, l *keep.Layout,
) (kept []*keep.Entry, unknown bool, err error) {
	memory, ok := c.pool.Get().(*scratch)
	if !ok {
		memory = &scratch{}
	}
	kept, err = keep.Take(obj, v, &memory.annotation)
	if unknown = memory.search.HasUnknown(x, l); unknown {
		ReportFrom(ctx).NoteUnknown()
	}
	memory.annotation.Reset(nil)
	c.pool.Put(memory)
	return kept, unknown, err
}

func (c *keeper) convert(ctx context.Context, obj *jsondoc.Object, from, to string) (exact bool, err error) {
	if f, ok := c.Converter.(Exact); ok {
		return f(ctx, obj, from, to)
	}
	return false, c.Converter.Convert(ctx, obj, from, to)
}

// restore restores kept values in y, which x was converted to, and returns g, which y converts back
// to. A hand-written annotation never makes an object fail: if y cannot be converted with the kept
// values, restore leaves them out.
func (c *keeper) restore(ctx context.Context, y, x *jsondoc.Object, kept []*keep.Entry, from, to string) (
	restored *keep.Restored, g *jsondoc.Object, err error,
) {
	if len(kept) == 0 {
		g, err = c.back(ctx, y, from, to)
		return nil, g, err
	}
	without := y.Value()
	if restored, err = keep.Restore(ctx, y, x, kept, c.layouts[direction{to, from}]); err != nil {
		return nil, nil, err
	}
	if g, err = c.back(ctx, y, from, to); err == nil || ctx.Err() != nil {
		return restored, g, err
	}
	y.Replace(without)
	g, err = c.back(ctx, y, from, to)
	return nil, g, err
}

// back converts a copy of y, which came from a version, back to that version.
func (c *keeper) back(ctx context.Context, y *jsondoc.Object, from, to string) (*jsondoc.Object, error) {
	g := y.Copy()
	if g == nil {
		var err error
		if g, err = jsondoc.ParseObject(y.Text()); err != nil {
			return nil, err
		}
	}
	was, err := g.Get("apiVersion")
	if err != nil {
		return nil, err
	}
	if text, ok := was.Str(); ok {
		group, _, _ := strings.Cut(text, "/")
		was.Replace(jsondoc.StringValue(group + "/" + to))
	}
	return g, c.Converter.Convert(ctx, g, to, from)
}
