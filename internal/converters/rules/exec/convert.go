// Package exec runs the programs of package plan over the text of objects. It keeps what a version
// cannot say in annotations (package keep), so that every conversion is lossless whatever the rules
// do.
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

// A Converter converts between the hub of a CRD and its other versions. It is safe for concurrent
// use.
type Converter struct {
	group      string
	versions   []string
	directions map[[2]string]*direction // by the versions from and to
	callsGo    bool
	pool       sync.Pool // of *scratch
}

// A Spoke is a version: its programs to the hub and from it, and the layouts of both.
type Spoke struct {
	ToHub, ToSpoke *plan.Program
	Layout, Hub    *keep.Layout
}

// A direction is the conversion of one version to another.
type direction struct {
	there, back    *plan.Program
	source, target *keep.Layout
	// The schema of the target; all that it fills in; and what it fills in where the source has no
	// place.
	schema            *crdschema.Version
	defaults, missing *keep.Defaults
	missingDecide     bool // expressions read what is filled in
}

// NewConverter returns a converter between the hub of a CRD and its other versions. CallsGo says
// that rules call Go functions, which may not return.
func NewConverter(crd *crdschema.CRD, hub string, spokes map[string]*Spoke, callsGo bool) *Converter {
	c := &Converter{group: crd.Group, callsGo: callsGo, directions: make(map[[2]string]*direction, 2*len(spokes))}
	for _, v := range crd.Versions {
		c.versions = append(c.versions, v.Name)
	}
	add := func(from, to string, there, back *plan.Program, source, target *keep.Layout) {
		missing := target.Missing()
		c.directions[[2]string{from, to}] = &direction{
			there: there, back: back, source: source, target: target,
			schema: crd.Version(to), defaults: target.Defaults(), missing: missing, missingDecide: missing.Decide(),
		}
	}
	for name, s := range spokes {
		add(name, hub, s.ToHub, s.ToSpoke, s.Layout, s.Hub)
		add(hub, name, s.ToSpoke, s.ToHub, s.Hub, s.Layout)
	}
	return c
}

// Complete implements converters.Completer. It fills in defaults that are not kept, since the API
// server would fill them in only if it stored the object at that version.
func (c *Converter) Complete(obj *jsondoc.Object, from, to string) error {
	if d := c.directions[[2]string{from, to}]; d != nil {
		return d.missing.FillIn(obj)
	}
	return nil
}

// Interruptible implements converters.Interruptible: rules check the context, Go functions may not.
func (c *Converter) Interruptible() bool { return !c.callsGo }

// Convert implements converters.Converter.
func (c *Converter) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	d := c.directions[[2]string{from, to}]
	if d == nil {
		return &jsondoc.PathError{Problem: fmt.Sprintf("no rules convert %s to %s, add the version", from, to), Path: ".apiVersion"}
	}
	s, _ := c.pool.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	s.job = conversion{
		direction: d, ctx: ctx, group: c.group, scratch: s, obj: obj, Versions: keep.Versions{From: from, To: to, All: c.versions},
	}
	err := s.job.convert()
	s.clear()
	c.pool.Put(s)
	return err
}

// A scratch is the memory of a conversion, which later ones reuse. After a panic, it is left to the
// garbage collector.
type scratch struct {
	docs   [4]jsondoc.Document
	used   int
	job    conversion
	kept   keep.Memory
	search keep.Searcher // for unknown fields
	run    run
}

// open parses an object, which is valid until the scratch is cleared.
func (s *scratch) open(text []byte) (*jsondoc.Object, error) {
	if s.used == len(s.docs) {
		return jsondoc.ParseObject(text)
	}
	s.used++
	return s.docs[s.used-1].Parse(text)
}

// clear releases all references to the object.
func (s *scratch) clear() {
	for i := range s.docs[:s.used] {
		s.docs[i].Reset(nil)
	}
	s.used, s.job = 0, conversion{}
	s.kept.Reset()
	s.run.clear()
}

// A conversion is that of one object x.
//
// Let F be the program there and G the program back. Both depend only on the visible part of the
// object. The result is F(x), in which kept values are restored if they are still valid. Whatever
// of x the result would not give back through G is kept in it. See package keep.
type conversion struct {
	*direction
	keep.Versions

	ctx     context.Context //nolint:containedctx // lives as long as one call
	group   string
	obj     *jsondoc.Object
	scratch *scratch
}

func (v *conversion) convert() error {
	text, asRead := v.obj.Text(), v.obj.Untouched()
	kept, err := keep.Take(v.obj, v.Versions, &v.scratch.kept)
	if err != nil {
		return err
	}
	var x *jsondoc.Object
	if asRead {
		x = v.obj.Original()
	} else if x, err = v.scratch.open(text); err != nil {
		return err
	}
	is := shown{of: x, text: text}
	unknown := v.scratch.search.HasUnknown(x, v.source)
	if unknown {
		converters.ReportFrom(v.ctx).NoteUnknown()
	}
	mayLose, err := v.forth(is, unknown || len(kept) > 0)
	if err != nil {
		return err
	}
	if !mayLose {
		return nil
	}
	entries, err := v.settle(x, is, kept, unknown)
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

// forth turns the object into F(x), and reports whether G may fail to restore x. With mayLose it
// does not try to find out.
func (v *conversion) forth(is shown, mayLose bool) (bool, error) {
	mayLose, err := v.run(v.there, v.obj, v.From, is, way{mayLose: mayLose})
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
	if _, err := keep.Take(v.obj, v.Versions, &v.scratch.kept); err != nil {
		return false, err
	}
	_, err = v.run(v.there, v.obj, v.From, is, way{mayLose: true, mute: true})
	return true, err
}

// stored tells the entries what the way back will give once the API server has pruned and defaulted
// the object, if that differs.
func (v *conversion) stored(entries []*keep.Entry) error {
	y, err := v.asStored()
	if y == nil || err != nil {
		return err
	}
	g, err := v.wayBack(y)
	if err != nil {
		return err
	}
	return keep.Stored(v.ctx, &v.scratch.kept, entries, g, y, v.source)
}

// asStored returns the object as the API server stores it, or nil if it is that already.
func (v *conversion) asStored() (*jsondoc.Object, error) {
	if v.schema.Embeds() {
		text, changed, err := v.schema.Stored(v.obj.Text())
		if !changed || err != nil {
			return nil, err
		}
		return v.scratch.open(text)
	}
	if v.defaults == nil {
		return nil, nil //nolint:nilnil // nil: the object is as stored
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

// completed returns the object with the defaults that Complete or the API server will fill in, if
// what the way back gives depends on them.
func (v *conversion) completed() (*jsondoc.Object, error) {
	if !v.missingDecide {
		return v.obj, nil
	}
	y, err := v.copyOf(v.obj)
	if err == nil {
		_, err = v.missing.Fill(y)
	}
	return y, err
}

// copyOf returns a copy of an object.
func (v *conversion) copyOf(obj *jsondoc.Object) (*jsondoc.Object, error) {
	if c := obj.Copy(); c != nil {
		return c, nil
	}
	return v.scratch.open(obj.Text())
}

// wayBack returns G(y) for an object y of the target version.
func (v *conversion) wayBack(y *jsondoc.Object) (*jsondoc.Object, error) {
	g, err := v.copyOf(y)
	if err != nil {
		return nil, err
	}
	if _, err = v.run(v.back, g, v.To, shown{of: y}, way{mayLose: true}); !errors.Is(err, errTotalLimit) {
		return g, err
	}
	if g, err = v.copyOf(y); err == nil {
		_, err = v.run(v.back, g, v.To, shown{of: y}, way{mayLose: true, mute: true})
	}
	return g, err
}

// errTotalLimit is returned if the expressions for an object cost too much together. The run is
// then repeated on an untouched object without any expression, so that the order of rules and list
// elements makes no difference. The error never leaves the package.
var errTotalLimit = errors.New("the expressions for the object cost too much together")

// A way is how a program is run.
type way struct {
	mayLose bool // do not find out whether something is lost
	mute    bool // without expressions
}

// run runs a program over an object of a version. Each run has the whole cost limit to itself, as
// the result of an expression must not depend on earlier runs.
func (v *conversion) run(p *plan.Program, obj *jsondoc.Object, version string, is shown, w way) (mayLose bool, err error) {
	is.group, is.version = v.group, version
	r := &v.scratch.run
	r.reset(v.ctx, is)
	r.mayLose, r.call.Mute = w.mayLose, w.mute
	r.program(p, obj.Node)
	if err := v.ctx.Err(); err != nil {
		return false, err
	}
	if r.err == nil && !w.mute && r.call.TotalLimit() {
		return true, errTotalLimit
	}
	return r.mayLose, r.err
}
