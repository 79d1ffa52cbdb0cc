// Package exec runs the programs of package plan over the text of objects, and keeps what a version cannot say in annotations,
// so that every conversion is lossless whatever the rules do (see conversion).
package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Converter converts between the hub of a CRD and its other versions. It is safe for concurrent use.
type Converter struct {
	group, hub string
	versions   []string
	schemas    map[string]*crdschema.Version
	spokes     map[string]*Spoke
	callsGo    bool
	pool       scratchPool
}

// A Spoke is a version with the programs to the hub and from it, and what package keep has to know of both.
type Spoke struct {
	ToHub, FromHub *plan.Program
	Layout, Hub    *keep.Layout
	// What the schemas of the version and of the hub fill in at places that the other one lacks, and all that they fill in.
	missing, missingOfHub   *keep.Defaults
	defaults, defaultsOfHub *keep.Defaults
}

// NewConverter returns a converter between the hub of a CRD and its other versions. CallsGo says that rules call functions
// in Go, which may not return.
func NewConverter(crd *crdschema.CRD, hub string, spokes map[string]*Spoke, callsGo bool) *Converter {
	c := &Converter{
		group: crd.Group, hub: hub, spokes: spokes, callsGo: callsGo,
		schemas: make(map[string]*crdschema.Version, len(crd.Versions)),
	}
	for _, v := range crd.Versions {
		c.versions, c.schemas[v.Name] = append(c.versions, v.Name), v
	}
	for _, s := range spokes {
		s.missing, s.missingOfHub = s.Layout.Missing(), s.Hub.Missing()
		s.defaults, s.defaultsOfHub = s.Layout.Defaults(), s.Hub.Defaults()
	}
	return c
}

// Complete implements converters.Completer: it fills in what is not kept, since the schema of the version fills it in where the
// object is stored at that.
func (c *Converter) Complete(obj *jsondoc.Object, from, to string) error {
	if s := c.spokes[from]; s != nil {
		return s.missingOfHub.FillIn(obj)
	}
	if s := c.spokes[to]; s != nil {
		return s.missing.FillIn(obj)
	}
	return nil
}

// Interruptible implements converters.Interruptible: rules look at the context, functions in Go need not.
func (c *Converter) Interruptible() bool { return !c.callsGo }

// Convert implements converters.Converter.
func (c *Converter) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	d := c.pool.get()
	v := &d.job
	*v = conversion{
		ctx: ctx, group: c.group, scratch: d, obj: obj, Versions: keep.Versions{From: from, To: to, All: c.versions}, schema: c.schemas[to],
	}
	if s := c.spokes[from]; s != nil && to == c.hub {
		v.there, v.back, v.source, v.target, v.defaults = s.ToHub, s.FromHub, s.Layout, s.Hub, s.defaultsOfHub
	} else if s := c.spokes[to]; s != nil && from == c.hub {
		v.there, v.back, v.source, v.target, v.defaults = s.FromHub, s.ToHub, s.Hub, s.Layout, s.defaults
	} else {
		return &jsondoc.PathError{Problem: fmt.Sprintf("no rules convert %s to %s, add the version", from, to), Path: ".apiVersion"}
	}
	err := v.convert()
	c.pool.put(d)
	return err
}

// scratchPool are those that nobody uses at the moment.
type scratchPool struct{ pool sync.Pool }

func (d *scratchPool) get() *scratch {
	if d, ok := d.pool.Get().(*scratch); ok {
		return d
	}
	made := &scratch{}
	made.run.views = views{made.run.shown.see, made.run.shown.seeMetadata}
	return made
}

func (d *scratchPool) put(free *scratch) {
	free.clear()
	d.pool.Put(free)
}

// A scratch is the memory of a conversion, which the next one uses again. One that panics leaves it to the garbage collector.
type scratch struct {
	docs [4]jsondoc.Document
	used int
	job  conversion
	// annotation is what an annotation keeps, while it is read.
	annotation jsondoc.Document
	// search is for unknown fields.
	search keep.Searcher
	run    run
}

// open returns the object that text is, good until the scratch is cleared.
func (d *scratch) open(text []byte) (*jsondoc.Object, error) {
	if d.used == len(d.docs) {
		return jsondoc.ParseObject(text)
	}
	d.used++
	return d.docs[d.used-1].Parse(text)
}

// clear lets go of all that is of the object.
func (d *scratch) clear() {
	for i := range d.docs[:d.used] {
		d.docs[i].Reset(nil)
	}
	d.used, d.job = 0, conversion{}
	d.run.clear()
}

// A conversion is that of one object x.
//
// F converts there and G back, without a look at what was kept, and both are functions of what is visible. X becomes F(x), in
// which those kept values are put back that are still valid. Where G does not give x back, what it does not give is kept. See
// package keep.
type conversion struct {
	keep.Versions
	ctx            context.Context //nolint:containedctx // lives as long as one call
	group          string
	obj            *jsondoc.Object
	there, back    *plan.Program
	source, target *keep.Layout
	// Of the version that the object is converted to.
	schema   *crdschema.Version
	defaults *keep.Defaults
	scratch  *scratch
}

func (v *conversion) convert() error {
	text, asRead := v.obj.Text(), v.obj.Untouched()
	kept, err := keep.Take(v.obj, v.Versions, &v.scratch.annotation)
	if err != nil {
		return err
	}
	x, is := v.obj, shown{text: text}
	if asRead {
		x = v.obj.Original()
		is.of = x
	}
	unknown := v.scratch.search.HasUnknown(x, v.source)
	if unknown {
		converters.ReportFrom(v.ctx).NoteUnknown()
	}
	mayLose, err := v.forth(is)
	if err != nil {
		return err
	}
	if !mayLose && !unknown && len(kept) == 0 {
		return nil
	}
	if !asRead {
		if x, err = v.scratch.open(text); err != nil {
			return err
		}
	}
	var restored *keep.Restored
	if len(kept) > 0 {
		if restored, err = keep.Restore(v.ctx, v.obj, x, kept, v.target); err != nil {
			return err
		}
	}
	g, err := v.wayBack(v.obj)
	if err != nil {
		return err
	}
	entries, err := keep.Diff(v.ctx, x, g, v.obj, v.source, unknown, restored)
	if err == nil && keep.TwoSided(entries) {
		err = v.stored(entries)
	}
	if err != nil {
		return err
	}
	err = keep.Put(v.ctx, v.obj, v.From, entries)
	if _, is := errors.AsType[*keep.TooLargeError](err); is {
		converters.ReportFrom(v.ctx).NoteTooLarge()
	}
	return err
}

// forth makes F(x) of the object, and reports whether G may not give x back.
func (v *conversion) forth(is shown) (mayLose bool, err error) {
	mayLose, err = v.run(v.there, v.obj, v.From, is, false)
	call := &v.scratch.run.call
	if call.CallLimit() || call.TotalLimit() {
		converters.ReportFrom(v.ctx).NoteCostLimit()
	}
	if !errors.Is(err, errTotalLimit) {
		return mayLose, err
	}
	x, err := jsondoc.RawValue(is.text)
	if err != nil {
		return false, err
	}
	v.obj.Replace(x)
	if _, err := keep.Take(v.obj, v.Versions, &v.scratch.annotation); err != nil {
		return false, err
	}
	_, err = v.run(v.there, v.obj, v.From, is, true)
	return true, err
}

// stored has the entries know what the way back will give once the API server has pruned and defaulted the object, if that is
// something else.
func (v *conversion) stored(entries []*keep.Entry) error {
	y, err := v.asStored()
	if y == nil || err != nil {
		return err
	}
	g, err := v.wayBack(y)
	if err != nil {
		return err
	}
	return keep.Stored(v.ctx, entries, g, y, v.source)
}

// asStored returns the object as the API server stores it, or nil if that is what it is already.
func (v *conversion) asStored() (*jsondoc.Object, error) {
	if v.schema.Embeds() {
		text, changed, err := v.schema.Stored(v.obj.Text())
		if !changed || err != nil {
			return nil, err
		}
		return v.scratch.open(text)
	}
	if v.defaults == nil {
		return nil, nil //nolint:nilnil // as said
	}
	y, err := v.copyOf(v.obj)
	if err != nil {
		return nil, err
	}
	if matters, err := v.defaults.Fill(y); !matters || err != nil {
		return nil, err
	}
	return y, nil
}

// copyOf returns an object with edits of its own.
func (v *conversion) copyOf(obj *jsondoc.Object) (*jsondoc.Object, error) {
	if c := obj.Copy(); c != nil {
		return c, nil
	}
	return v.scratch.open(obj.Text())
}

// wayBack returns what G gives for an object of the version that this one is converted to.
func (v *conversion) wayBack(y *jsondoc.Object) (*jsondoc.Object, error) {
	g, err := v.copyOf(y)
	if err != nil {
		return nil, err
	}
	if _, err = v.run(v.back, g, v.To, shown{of: y}, false); !errors.Is(err, errTotalLimit) {
		return g, err
	}
	if g, err = v.copyOf(y); err == nil {
		_, err = v.run(v.back, g, v.To, shown{of: y}, true)
	}
	return g, err
}

// errTotalLimit says that the expressions for an object cost too much together. None of them counts then, so that it makes no
// difference in which order a program has them, and which element of a list stands before another: the run is to be made once more,
// mute and on an untouched object. It never leaves the package.
var errTotalLimit = errors.New("the expressions for the object cost too much together")

// run puts an object of a version through a program. Each run has the whole cost limit for itself: what an expression gives
// must not depend on what ran before. A mute one is without expressions.
func (v *conversion) run(p *plan.Program, obj *jsondoc.Object, version string, is shown, mute bool) (mayLose bool, err error) {
	is.group, is.version = v.group, version
	r := &v.scratch.run
	r.reset(v.ctx, is)
	r.call.Mute = mute
	r.program(p, obj.Node)
	if err := v.ctx.Err(); err != nil {
		return false, err
	}
	if r.err == nil && !mute && r.call.TotalLimit() {
		return true, errTotalLimit
	}
	return r.mayLose, r.err
}
