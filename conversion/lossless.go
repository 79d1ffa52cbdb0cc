package conversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
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
	pool      sync.Pool // of *keep.Searcher, whose memory conversions reuse
}

// A layout is that of the version that is converted from, towards the other.
type layout struct {
	*keep.Layout

	alike map[*crdschema.Node]bool // see pruneAlike

	json *jsonType // of the version's Go type, if it has one, with the fields that the schema does not cover
}

func newKeeper(c Converter, k *converters.Kind) *keeper {
	typed := typedOf(c)
	layouts := make(map[direction]*layout, 2*len(k.Versions))
	for _, v := range k.Versions {
		for _, d := range []direction{{v, k.Hub}, {k.Hub, v}} {
			l := &keep.Layout{Schema: k.Schemas[d.from], Other: k.Schemas[d.to], Root: &keep.Place{}, Opaque: true, Repeats: len(k.Versions) > 2}
			alike := map[*crdschema.Node]bool{}
			pruneAlike(l.Schema, l.Other, alike)
			var json *jsonType
			if typed != nil && typed.types[d.from].object != nil {
				json = typed.types[d.from].coveredBy(l.Schema)
			}
			layouts[d] = &layout{l, alike, json}
		}
	}
	return &keeper{converter: onText(c), typed: typed, versions: k.Versions, layouts: layouts}
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
	stored         bool // the object is no fragment
}

func (c *keeping) convert(ctx context.Context, obj *jsondoc.Object) error {
	c.stored = keep.IsStored(obj)
	if _, err := c.fill(c.source, obj); err != nil {
		return err
	}
	text, asRead, x := obj.Text(), obj.Untouched(), obj
	if asRead {
		x = obj.Original()
	}
	kept, err := annotation.Take(obj, annotation.Versions{From: c.from, To: c.to, All: c.versions}, &annotation.Memory{})
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
	restored, err := c.restore(ctx, obj, x, kept)
	if err != nil {
		return err
	}
	filled, err := c.fill(c.target, obj)
	if err != nil {
		return err
	}
	if way != nil && len(kept) == 0 && !unknown && !pruned && !filled && way.isLossless(ctx) {
		return nil
	}
	g, err := c.back(ctx, obj)
	if err != nil {
		return err
	}
	entries, err := keep.Diff(ctx, &keep.Memory{}, &keep.Conversion{
		X: x, Y: obj, G: g, Layout: c.source.Layout, Unknown: unknown, Stored: c.stored, Restored: restored,
	})
	if err == nil && len(restored.Claims()) > 0 {
		err = keep.Seal(entries, obj, c.target.Schema)
	}
	if err != nil {
		return err
	}
	err = annotation.Put(ctx, obj, c.from, entries)
	if _, is := errors.AsType[*annotation.TooLargeError](err); is {
		converters.ReportFrom(ctx).TooLarge = true
	}
	return err
}

// fill fills in the defaults of a version, unless the object is a fragment.
func (c *keeping) fill(l *layout, obj *jsondoc.Object) (filled bool, err error) {
	if !c.stored {
		return false, nil
	}
	return l.Schema.Fill(obj.Node)
}

// there converts obj. If that is between Go types, it may return a short way back.
func (c *keeping) there(ctx context.Context, obj *jsondoc.Object) (*wayBack, error) {
	if c.typed == nil {
		return nil, c.converter.Convert(ctx, obj, c.from, c.to)
	}
	return c.typed.convert(ctx, newObject(obj), c.direction, c.source.json)
}

// hasUnknown reports whether the original x has fields that no schema knows.
func (c *keeping) hasUnknown(ctx context.Context, x *jsondoc.Object) bool {
	search, ok := c.pool.Get().(*keep.Searcher)
	if !ok {
		search = &keep.Searcher{}
	}
	unknown := search.HasUnknown(x, c.source.Layout, false)
	if unknown {
		converters.ReportFrom(ctx).UnknownFields = true
	}
	c.pool.Put(search)
	return unknown
}

// restore restores kept values in y, which x was converted to. A forged annotation never makes an
// object fail: if y cannot be converted with the kept values, restore leaves them out.
func (c *keeping) restore(ctx context.Context, y, x *jsondoc.Object, kept []*annotation.Entry) (*keep.Restored, error) {
	if len(kept) == 0 {
		return nil, nil //nolint:nilnil // nothing is restored
	}
	t := &trial{keeping: c, y: y, x: x, plain: y.Value()}
	restored, g, err := t.with(ctx, kept)
	if err == nil && (keep.Unedited(kept, x, c.source.Schema) || len(t.source.differing(g, x).leaves) == 0) || ctx.Err() != nil {
		return restored, err
	}
	if err != nil {
		g = nil
	}
	restored, _, err = t.with(ctx, t.agreeing(ctx, kept, g))
	return restored, err
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
	if err == nil {
		_, err = c.fill(c.source, g)
	}
	return g, err
}

func copyOf(obj *jsondoc.Object) (*jsondoc.Object, error) {
	if c := obj.Copy(); c != nil {
		return c, nil
	}
	return jsondoc.ParseObject(slices.Clone(obj.Text()))
}
