package conversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Lossless returns the kind of a CRD with a converter that loses nothing, whatever c does. The text
// is that of the CustomResourceDefinition, in YAML or JSON, as controller-gen writes it.
//
// It converts each result back at once. A source value that this does not give back is kept in an
// annotation of the result. The conversion to its version restores it, as long as c gives there
// what it gave when the value was kept. Nothing that a user has changed since is hidden: if a kept
// value contradicts what the object says now, it goes, together with the values that c computes
// from the same fields, and with no others. Fields that the result's schema does not have are
// removed, since the API server would prune them.
//
// A conversion fails if an object's annotations would have more than 256 KiB with the kept values,
// which the API server does not store.
//
// Converter c needs no knowledge of this. It is called at least twice for each conversion, so it
// must also meet its obligations for its own results. The hub is that of [WithHub] or [HubSpoke],
// or else the version that the CRD stores.
//
// It fails without a converter, and for a text that is not exactly one valid CRD with at least two
// versions, the hub among them, each with a spoke if c is HubSpoke. The kind is safe for concurrent
// use.
func Lossless(c Converter, crd []byte) (Kind, error) {
	if isMissing(c) {
		return Kind{}, errors.New("conversion.Lossless: no converter")
	}
	crds, err := crdschema.Parse("crd", crd, nil)
	switch {
	case err != nil:
		return Kind{}, fmt.Errorf("conversion.Lossless: %w", err)
	case len(crds) != 1:
		return Kind{}, fmt.Errorf("conversion.Lossless: the text has %d CustomResourceDefinitions, want one", len(crds))
	}
	kind := converters.Kind{
		GroupKind: crds[0].GroupKind(), Hub: hubOf(c), Versions: crds[0].VersionNames(), Schemas: map[string]*crdschema.Node{},
	}
	for _, v := range crds[0].Versions {
		if kind.Schemas[v.Name] = v.Root; v.Storage && kind.Hub == "" {
			kind.Hub = v.Name
		}
	}
	kind.Converter = newKeeper(c, &kind)
	_, err = converters.NewRegistry(kind)
	if typed := typedOf(c); typed != nil && err == nil {
		err = typed.lacking(kind.Hub, kind.Versions)
	}
	if err != nil {
		return Kind{}, fmt.Errorf("conversion.Lossless: %w", err)
	}
	return Kind{kind.GroupKind, kind.Hub, kind.Versions, &made{kind}}, nil
}

type direction struct{ from, to string }

// A keeper is a converter that keeps what another one does not give back.
type keeper struct {
	converter converters.Converter
	typed     *typedVersions // the same, or nil
	versions  []string
	layouts   map[direction]*layout
	pool      sync.Pool // of *scratch
}

// A layout is that of the version that is converted from, towards the other.
type layout struct {
	*keep.Layout

	defaults *keep.Defaults           // of the version
	missing  *keep.Defaults           // of these, what the other version lacks
	alike    map[*crdschema.Node]bool // see pruneAlike

	json *jsonType // of the version's Go type, if it has one, with the fields that the schema does not cover
}

// A scratch is memory that conversions reuse.
type scratch struct {
	search keep.Searcher
}

func newKeeper(c Converter, k *converters.Kind) *keeper {
	typed := typedOf(c)
	layouts := make(map[direction]*layout, 2*len(k.Versions))
	for _, v := range k.Versions {
		for _, d := range []direction{{v, k.Hub}, {k.Hub, v}} {
			l := &keep.Layout{Schema: k.Schemas[d.from], Other: k.Schemas[d.to], OtherVersion: d.to, Root: &keep.Place{}, Opaque: true}
			alike := map[*crdschema.Node]bool{}
			pruneAlike(l.Schema, l.Other, alike)
			var json *jsonType
			if typed != nil && typed.types[d.from].object != nil {
				json = typed.types[d.from].coveredBy(l.Schema)
			}
			layouts[d] = &layout{l, l.Defaults(), l.Missing(), alike, json}
		}
	}
	return &keeper{converter: onText(c), typed: typed, versions: k.Versions, layouts: layouts}
}

// Complete implements converters.Completer: defaults of the target that the source lacks are not
// kept.
func (k *keeper) Complete(obj *jsondoc.Object, from, to string) error {
	if l := k.layouts[direction{to, from}]; l != nil {
		return l.missing.FillIn(obj)
	}
	return nil
}

// Convert implements converters.Converter.
func (k *keeper) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	c := &keeping{keeper: k, direction: direction{from, to}, source: k.layouts[direction{from, to}], target: k.layouts[direction{to, from}]}
	if c.source == nil {
		return &jsondoc.PathError{Problem: fmt.Sprintf("no conversion of %s to %s, go over the hub", from, to), Path: ".apiVersion"}
	}
	return c.convert(ctx, obj)
}

// A keeping is the conversion of one object.
type keeping struct {
	*keeper
	direction

	source, target *layout
}

func (c *keeping) convert(ctx context.Context, obj *jsondoc.Object) error {
	text, asRead, x := obj.Text(), obj.Untouched(), obj
	if asRead {
		x = obj.Original()
	}
	kept, err := c.take(obj)
	if err != nil {
		return err
	}
	way, err := c.there(ctx, obj)
	if err != nil {
		return err
	}
	if !asRead {
		if x, err = jsondoc.ParseObject(text); err != nil {
			return err
		}
	}
	pruned, err := c.target.prune(obj, x)
	if err != nil {
		return err
	}
	unknown := (way == nil || !way.known) && c.hasUnknown(ctx, x)
	if way != nil && len(kept) == 0 && !unknown && !pruned && way.isLossless(ctx) {
		return nil
	}
	var plain *jsondoc.Object
	if len(kept) > 0 {
		if plain, err = copyOf(obj); err != nil {
			return err
		}
	}
	restored, g, err := c.restore(ctx, obj, x, kept)
	if err != nil {
		return err
	}
	entries, err := keep.Diff(ctx, &keep.Memory{}, x, g, obj, c.source.Layout, unknown, restored)
	if err == nil && len(entries) > 0 {
		err = c.stored(ctx, obj, entries, plain)
	}
	if err != nil {
		return err
	}
	err = keep.Put(ctx, obj, c.from, entries)
	if _, is := errors.AsType[*keep.TooLargeError](err); is {
		converters.ReportFrom(ctx).NoteTooLarge()
	}
	return err
}

// there converts obj. If that is between Go types, it may return a short way back.
func (c *keeping) there(ctx context.Context, obj *jsondoc.Object) (*wayBack, error) {
	if c.typed == nil {
		return nil, c.converter.Convert(ctx, obj, c.from, c.to)
	}
	return c.typed.convert(ctx, newObject(obj), c.direction, c.source.json)
}

// take removes kept values from obj and returns them.
func (c *keeping) take(obj *jsondoc.Object) ([]*keep.Entry, error) {
	return keep.Take(obj, keep.Versions{From: c.from, To: c.to, All: c.versions}, &keep.Memory{})
}

// hasUnknown reports whether the original x has fields that no schema knows.
func (c *keeping) hasUnknown(ctx context.Context, x *jsondoc.Object) bool {
	memory, ok := c.pool.Get().(*scratch)
	if !ok {
		memory = &scratch{}
	}
	unknown := memory.search.HasUnknown(x, c.source.Layout)
	if unknown {
		converters.ReportFrom(ctx).NoteUnknown()
	}
	c.pool.Put(memory)
	return unknown
}

// restore restores kept values in y, which x was converted to, and returns g, which y converts back
// to. A forged annotation never makes an object fail: if y cannot be converted with the kept
// values, restore leaves them out.
func (c *keeping) restore(ctx context.Context, y, x *jsondoc.Object, kept []*keep.Entry) (
	restored *keep.Restored, g *jsondoc.Object, err error,
) {
	if len(kept) == 0 {
		g, err = c.back(ctx, y)
		return nil, g, err
	}
	t := &trial{keeping: c, y: y, x: x, plain: y.Value()}
	restored, g, err = t.with(ctx, kept)
	if err == nil && (keep.Unedited(kept, x) || len(t.source.differing(g, x).leaves) == 0) || ctx.Err() != nil {
		return restored, g, err
	}
	if err != nil {
		g = nil
	}
	return t.with(ctx, t.agreeing(ctx, kept, g))
}

// stored adds to entries what obj is once the API server has filled in the defaults of its version,
// and what it converts back to then. plain is obj before kept values returned to it, or nil if none
// did. If they show in obj, entries may contradict them. Only then does it seal obj, since a seal
// changes with every edit of any field.
func (c *keeping) stored(ctx context.Context, obj *jsondoc.Object, entries []*keep.Entry, plain *jsondoc.Object) error {
	twoSided := c.target.defaults != nil && keep.TwoSided(entries)
	contradicting := plain != nil && len(c.target.differing(plain, obj).leaves) > 0
	if !twoSided && !contradicting {
		return nil
	}
	y, err := c.defaulted(obj)
	if err != nil {
		return err
	}
	if contradicting {
		if err := keep.Seal(entries, obj, y); err != nil {
			return err
		}
	}
	if !twoSided {
		return nil
	}
	g, err := c.back(ctx, y)
	if err != nil {
		return err
	}
	return keep.Stored(ctx, &keep.Memory{}, entries, g, y, c.source.Layout)
}

// defaulted returns obj with the defaults of its version.
func (c *keeping) defaulted(obj *jsondoc.Object) (*jsondoc.Object, error) {
	if c.target.defaults == nil {
		return obj, nil
	}
	y, err := copyOf(obj)
	if err != nil {
		return nil, err
	}
	_, err = c.target.defaults.Fill(y)
	return y, err
}

// back converts a copy of y, an object of the result's version, back.
func (c *keeping) back(ctx context.Context, y *jsondoc.Object) (*jsondoc.Object, error) {
	g, err := copyOf(y)
	if err == nil {
		err = setVersion(g, c.to)
	}
	if err == nil {
		err = c.converter.Convert(ctx, g, c.to, c.from)
	}
	if err == nil {
		_, err = c.source.prune(g, y)
	}
	return g, err
}

func copyOf(obj *jsondoc.Object) (*jsondoc.Object, error) {
	if c := obj.Copy(); c != nil {
		return c, nil
	}
	return jsondoc.ParseObject(slices.Clone(obj.Text()))
}
