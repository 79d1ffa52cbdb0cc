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
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Converter converts between the hub of a CRD and its other versions. It is safe for concurrent
// use.
type Converter struct {
	group      string
	versions   []string
	directions map[[2]string]*direction // by the versions from and to
	Options
	pool sync.Pool // of *scratch
}

// Options are the options of a Converter.
type Options struct {
	CallsGo bool   // rules call Go functions, which may not return
	Rules   string // identify the rules
	// Marks says that replicas may have other rules. Earlier has those that are all that some know,
	// or is nil.
	Marks   bool
	Earlier *Converter

	patches bool // see OfPatches
}

// A Spoke is a version: its programs to the hub and from it, and the layouts of both.
type Spoke struct {
	ToHub, ToSpoke *plan.Program
	Layout, Hub    *keep.Layout
}

// A direction is the conversion of one version to another.
type direction struct {
	forward, reverse *plan.Program
	source, target   side
}

// A side is one of the two versions of a conversion.
type side struct {
	layout *keep.Layout
	schema *crdschema.Version
}

// fill fills in the defaults of the version.
func (s side) fill(obj *jsondoc.Object) (filled bool, err error) {
	return s.layout.Schema.Fill(obj.Node)
}

// NewConverter returns a converter between the hub of a CRD and its other versions.
func NewConverter(crd *crdschema.CRD, hub string, spokes map[string]*Spoke, opts Options) *Converter {
	c := &Converter{group: crd.Group, Options: opts, directions: make(map[[2]string]*direction, 2*len(spokes))}
	for _, v := range crd.Versions {
		c.versions = append(c.versions, v.Name)
	}
	for name, s := range spokes {
		of, ofHub := side{s.Layout, crd.Version(name)}, side{s.Hub, crd.Version(hub)}
		c.directions[[2]string{name, hub}] = &direction{s.ToHub, s.ToSpoke, of, ofHub}
		c.directions[[2]string{hub, name}] = &direction{s.ToSpoke, s.ToHub, ofHub, of}
	}
	return c
}

// OfPatches returns a converter of patches: parts of objects, which leave other fields to what they
// are applied to. No rule writes a default or a constant for a place that a patch lacks. Lists in
// patches replace others, so their elements are whole.
func (c *Converter) OfPatches() *Converter {
	of := &Converter{group: c.group, versions: c.versions, directions: c.directions, Options: c.Options}
	of.patches = true
	return of
}

// Interruptible implements converters.Interruptible: rules check the context, Go functions may not.
func (c *Converter) Interruptible() bool { return !c.CallsGo }

// Layout implements converters.Searchable.
func (c *Converter) Layout(from, to string) *keep.Layout {
	if d := c.directions[[2]string{from, to}]; d != nil {
		return d.source.layout
	}
	return nil
}

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
		direction: d, ctx: ctx, of: c, scratch: s, obj: obj, Versions: annotation.Versions{From: from, To: to, All: c.versions},
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

// A conversion is that of one object x to y. See package keep.
type conversion struct {
	*direction
	annotation.Versions

	ctx     context.Context //nolint:containedctx // lives as long as one call
	of      *Converter
	obj     *jsondoc.Object // x, then y
	scratch *scratch

	x       *jsondoc.Object
	text    []byte // of x
	stored  bool   // it is no fragment
	is      shown
	unknown bool // x has fields that no schema knows
}

func (v *conversion) convert() error {
	kept, err := v.begin()
	if err != nil {
		return err
	}
	y, err := v.to(kept, v.unknown || len(kept) > 0 || v.of.Marks)
	if err != nil || !y.mayLose {
		return err
	}
	entries, err := v.lost(y)
	if err == nil && len(y.restored.Claims()) > 0 {
		if !keep.Unedited(kept, v.x, v.source.layout.Schema) {
			entries, err = v.accepted(y, kept, entries)
		}
		if err == nil {
			err = keep.Seal(entries, v.obj, v.target.layout.Schema)
		}
	}
	if err != nil {
		return err
	}
	if v.of.Marks {
		if entries, err = v.marked(entries); err != nil {
			return err
		}
	}
	err = annotation.Put(v.ctx, v.obj, v.From, entries)
	if _, is := errors.AsType[*annotation.TooLargeError](err); is {
		converters.ReportFrom(v.ctx).TooLarge = true
	}
	return err
}

// begin takes the kept values out of x.
func (v *conversion) begin() (kept []*annotation.Entry, err error) {
	if err := v.ctx.Err(); err != nil {
		return nil, err
	}
	if v.stored = keep.IsStored(v.obj); v.stored {
		if _, err := v.source.fill(v.obj); err != nil {
			return nil, err
		}
	}
	asRead := v.obj.Untouched()
	v.text = v.obj.Text()
	if kept, err = annotation.Take(v.obj, v.Versions, &v.scratch.kept.Memory); err != nil {
		return nil, err
	}
	kept = v.scratch.kept.For(v.of.Rules, kept)
	if asRead {
		v.x = v.obj.Original()
	} else if v.x, err = v.scratch.open(v.text); err != nil {
		return nil, err
	}
	if v.is, err = v.shown(v.source, v.x, v.text); err != nil {
		return nil, err
	}
	report, l := converters.ReportFrom(v.ctx), v.source.layout
	read, found := report.Searched.By(l)
	v.unknown = found || v.scratch.search.HasUnknown(v.x, l, read)
	report.UnknownFields = report.UnknownFields || v.unknown
	return kept, nil
}

// shown returns what expressions see of an object: also the defaults that the API server fills in
// when it stores it.
func (v *conversion) shown(s side, obj *jsondoc.Object, text []byte) (shown, error) {
	is := shown{of: obj, text: text}
	if v.stored || !s.layout.Schema.HasDefaults() {
		return is, nil
	}
	c, err := v.copyOf(obj)
	if err == nil {
		_, err = s.fill(c)
	}
	return shown{of: c}, err
}

// A converted is what is known of y.
type converted struct {
	mayLose  bool // the reverse conversion may not give x
	restored *keep.Restored
}

// to turns x into y, with kept values. With mayLose it does not try to find out whether the reverse
// conversion may fail to give x.
func (v *conversion) to(kept []*annotation.Entry, mayLose bool) (y converted, err error) {
	var trace *keep.Trace
	if len(kept) > 0 {
		trace = v.scratch.kept.Trace()
	}
	if y.mayLose, err = v.runForward(trace, mayLose); err != nil {
		return y, err
	}
	if len(kept) > 0 {
		if y.restored, err = keep.Restore(v.ctx, &v.scratch.kept, v.obj, v.x, trace, kept, v.target.layout); err != nil {
			return y, err
		}
	}
	if v.stored {
		filled, err := v.target.fill(v.obj)
		if y.mayLose = y.mayLose || filled; err != nil {
			return y, err
		}
	}
	return y, nil
}

// again is to once more, with other kept values.
func (v *conversion) again(kept []*annotation.Entry) (y converted, err error) {
	if err := v.reset(); err != nil {
		return y, err
	}
	return v.to(kept, true)
}

// reset turns the object into x again.
func (v *conversion) reset() error {
	text, err := jsondoc.RawValue(v.text)
	if err != nil {
		return err
	}
	v.obj.Replace(text)
	_, err = annotation.Take(v.obj, v.Versions, &v.scratch.kept.Memory)
	return err
}

// runForward runs the program to y, and reports whether the reverse conversion may fail to give x.
func (v *conversion) runForward(trace *keep.Trace, mayLose bool) (bool, error) {
	mayLose, err := v.run(v.forward, v.obj, v.From, v.is, way{mayLose: mayLose, trace: trace})
	call := &v.scratch.run.call
	if call.CallLimit() || call.TotalLimit() {
		converters.ReportFrom(v.ctx).CostLimit = true
	}
	if !errors.Is(err, errTotalLimit) {
		return mayLose, err
	}
	if err := v.reset(); err != nil {
		return false, err
	}
	if trace != nil {
		*trace = *v.scratch.kept.Trace()
	}
	_, err = v.run(v.forward, v.obj, v.From, v.is, way{mayLose: true, mute: true, trace: trace})
	return true, err
}

// lost returns entries for what the reverse conversion does not give of x.
func (v *conversion) lost(y converted) ([]*annotation.Entry, error) {
	stored, err := v.asStored()
	if err != nil {
		return nil, err
	}
	g, trace, err := v.back(stored)
	if err != nil {
		return nil, err
	}
	return keep.Diff(v.ctx, &v.scratch.kept, &keep.Conversion{
		X: v.x, Y: stored, G: g, Trace: trace, Layout: v.source.layout, Unknown: v.unknown, Stored: v.stored, Restored: y.restored,
	})
}

// accepted returns the entries of x if the kept values agree with it. Values that returned in what
// an expression makes may contradict what x says: then the reverse conversion gives something else
// with them than without. Those of such a unit go, and no others.
func (v *conversion) accepted(y converted, kept, entries []*annotation.Entry) ([]*annotation.Entry, error) {
	doubtful := y.restored.Claims().Disputed(entries, nil)
	if len(doubtful) == 0 {
		return entries, nil
	}
	y, err := v.again(doubtful.Without(kept))
	if err != nil {
		return nil, err
	}
	without, err := v.lost(y)
	if err != nil {
		return nil, err
	}
	contradicting := doubtful.Disputed(entries, without)
	if len(contradicting) == len(doubtful) {
		return without, nil
	}
	if y, err = v.again(contradicting.Without(kept)); err != nil {
		return nil, err
	}
	return v.lost(y)
}

// asStored returns y as the API server stores it, which tidies up embedded resources.
func (v *conversion) asStored() (*jsondoc.Object, error) {
	if !v.target.schema.Embeds() {
		return v.obj, nil
	}
	text, changed, err := v.target.schema.Stored(v.obj.Text())
	if !changed || err != nil {
		return v.obj, err
	}
	return v.scratch.open(text)
}

// back returns what y converts back to.
func (v *conversion) back(y *jsondoc.Object) (*jsondoc.Object, *keep.Trace, error) {
	is, err := v.shown(v.target, y, nil)
	if err != nil {
		return nil, nil, err
	}
	g, trace, err := v.reversed(y, is, false)
	if errors.Is(err, errTotalLimit) {
		g, trace, err = v.reversed(y, is, true)
	}
	if err == nil && v.stored {
		_, err = v.source.fill(g)
	}
	return g, trace, err
}

func (v *conversion) reversed(y *jsondoc.Object, is shown, mute bool) (*jsondoc.Object, *keep.Trace, error) {
	trace := v.scratch.kept.Trace()
	g, err := v.copyOf(y)
	if err == nil {
		_, err = v.run(v.reverse, g, v.To, is, way{mayLose: true, mute: mute, trace: trace})
	}
	return g, trace, err
}

// copyOf returns a copy of an object.
func (v *conversion) copyOf(obj *jsondoc.Object) (*jsondoc.Object, error) {
	if c := obj.Copy(); c != nil {
		return c, nil
	}
	return v.scratch.open(obj.Text())
}

// errTotalLimit is returned if the expressions for an object cost too much together. The run is
// then repeated on an untouched object without any expression, so that the order of rules and list
// elements makes no difference. The error never leaves the package.
var errTotalLimit = errors.New("the expressions for the object cost too much together")

// A way is how a program is run.
type way struct {
	mayLose bool // do not find out whether something is lost
	mute    bool // without expressions
	trace   *keep.Trace
}

// run runs a program over an object of a version. Each run has the whole cost limit to itself, as
// the result of an expression must not depend on earlier runs.
func (v *conversion) run(p *plan.Program, obj *jsondoc.Object, version string, is shown, w way) (mayLose bool, err error) {
	is.group, is.version = v.of.group, version
	r := &v.scratch.run
	r.reset(v.ctx, is)
	r.mayLose, r.call.Mute, r.trace, r.partial = w.mayLose, w.mute, w.trace, v.of.patches
	r.program(p, obj.Node)
	if err := v.ctx.Err(); err != nil {
		return false, err
	}
	if r.err == nil && !w.mute && r.call.TotalLimit() {
		return true, errTotalLimit
	}
	return r.mayLose, r.err
}
