// Package exec runs the programs of package plan over the text of objects, and keeps what a version cannot say in annotations,
// so that every conversion is lossless whatever the rules do (see conversion).
package exec

import (
	"context"
	"fmt"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Converter converts between the hub of a CRD and its other versions. It is safe for concurrent use.
type Converter struct {
	group, hub string
	spokes     map[string]*Spoke
	schemas    map[string]*crdschema.Version
	pool       scratchPool
}

// A Spoke is a version with the programs to the hub and from it.
type Spoke struct{ ToHub, FromHub *plan.Program }

// NewConverter returns a converter between the hub of a CRD and its other versions.
func NewConverter(crd *crdschema.CRD, hub string, spokes map[string]*Spoke) *Converter {
	c := &Converter{group: crd.Group, hub: hub, spokes: spokes, schemas: make(map[string]*crdschema.Version, len(crd.Versions))}
	for _, v := range crd.Versions {
		c.schemas[v.Name] = v
	}
	return c
}

// Convert implements converters.Converter.
func (c *Converter) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	var there, back *plan.Program
	if s := c.spokes[from]; s != nil && to == c.hub {
		there, back = s.ToHub, s.FromHub
	} else if s := c.spokes[to]; s != nil && from == c.hub {
		there, back = s.FromHub, s.ToHub
	} else {
		return &jsondoc.PathError{Problem: fmt.Sprintf("no rules convert %s to %s, add the version", from, to), Path: ".apiVersion"}
	}
	d := c.pool.get()
	v := &d.job
	*v = conversion{
		ctx: ctx, group: c.group, schemas: c.schemas, pool: &c.pool, scratch: d, obj: obj, from: from, to: to, there: there, back: back,
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
	made.there.see, made.compare.see = made.there.shown.see, made.compare.shown.see
	return made
}

func (d *scratchPool) put(free *scratch) {
	free.clear()
	d.pool.Put(free)
}

// A scratch is the memory of a conversion, which the next one uses again. One that panics leaves it to the garbage collector.
type scratch struct {
	docs    [4]jsondoc.Document
	used    int
	job     conversion
	there   run // what runs programs
	compare run // what looks at their results
}

// open returns the object that text is, good until the scratch is cleared.
func (d *scratch) open(text []byte) (*jsondoc.Object, error) {
	if d.used == len(d.docs) {
		return jsondoc.ParseObject(text)
	}
	doc := &d.docs[d.used]
	d.used++
	doc.Reset(text)
	s, err := doc.Scanner(jsondoc.MaxDepth)
	if err != nil {
		return nil, err
	}
	outline, err := doc.Outline(s, "metadata")
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, err
	}
	return doc.Open(outline), nil
}

// clear lets go of all that is of the object.
func (d *scratch) clear() {
	for i := range d.docs[:d.used] {
		d.docs[i].Reset(nil)
	}
	d.used, d.job = 0, conversion{}
	d.there.clear()
	d.compare.clear()
}

// A conversion is that of one object.
//
// F converts there and G back, without a look at any stash, and both are functions of what is visible. The object x becomes
// F(x), in which the values of a stash are put as long as converting back shows that they say what x says (restore). Then,
// if there is doubt whether G gives x back, G is run, and where it does not, x goes into the stash of its own version. So
// the way back can rebuild x from what G gives and the stash, whatever F and G do. Then that is proved: see prove.
type conversion struct {
	ctx         context.Context //nolint:containedctx // lives as long as one call
	group       string
	obj         *jsondoc.Object
	from, to    string
	there, back *plan.Program
	schemas     map[string]*crdschema.Version
	pool        *scratchPool
	scratch     *scratch
	source      []byte // the object as it came
	asRead      bool   // it is the document's own, which nobody has edited before
	result      []byte // what it was made: F(x), once that was asked for
	trusted     bool   // what is kept need not be proved to come back
	defaulted   bool   // the API server's defaults were taken for nothing
}

func (v *conversion) convert() error {
	v.source, v.asRead = v.obj.Text(), v.obj.Untouched()
	stash, err := converters.TakeStash(v.obj, v.from, v.to)
	if err != nil {
		return err
	}
	stash = v.scratch.compare.accepted(stash)
	if whole, err := v.entire(stash); whole || err != nil {
		return err
	}
	doubt, err := v.run(v.there, v.obj, v.from, shown{text: v.source})
	if err != nil || !doubt && stash == nil {
		return err
	}
	return v.settle(stash)
}

// original returns the source, not to be edited.
func (v *conversion) original() (*jsondoc.Object, error) {
	if v.asRead {
		return v.obj.Original(), nil
	}
	return v.scratch.open(v.source)
}

// converted returns the text of F(x), as long as nothing is put into it.
func (v *conversion) converted() []byte {
	if v.result == nil {
		v.result = v.obj.Text()
	}
	return v.result
}

// run puts an object of a version through a program. Each run has the whole cost limit for itself: what an expression gives
// must not depend on what ran before.
func (v *conversion) run(p *plan.Program, obj *jsondoc.Object, version string, is shown) (doubt bool, err error) {
	is.group, is.version = v.group, version
	r := &v.scratch.there
	r.reset(v.ctx, is)
	r.program(p, obj.Node)
	if err := v.ctx.Err(); err != nil {
		return false, err
	}
	return r.mayLose, r.err
}

// A shown is the object that expressions see. That they see any is rare.
type shown struct {
	text           []byte
	as             *conversion // whose F(x) it is, if there is no text
	group, version string
}

// see returns what expressions see: all but the annotations that webhookd keeps there.
func (s *shown) see() []byte {
	text := s.text
	if text == nil && s.as != nil {
		text = s.as.converted()
	}
	return visible(text, s.group+"/"+s.version)
}

// visible returns what expressions see of an object: all but the annotations that webhookd keeps there.
func visible(text []byte, apiVersion string) []byte {
	obj, err := jsondoc.ParseObject(text)
	if err != nil {
		return text
	}
	r := &run{}
	if was, _ := r.member(obj.Node, "apiVersion").Str(); was != apiVersion && was != "" {
		r.note(obj.Set(jsondoc.StringValue(apiVersion), "apiVersion"))
	}
	r.tidy(r.member(obj.Node, "metadata"))
	if r.err != nil {
		return text
	}
	return obj.Text()
}

// tidy removes from metadata what does not count: annotations of webhookd, labels and annotations that are null or empty.
func (r *run) tidy(metadata *jsondoc.Node) {
	for _, field := range []string{"annotations", "labels"} {
		all := r.member(metadata, field)
		for _, e := range r.entries(all) {
			if isOwn(e.name) {
				r.note(all.RemoveMember(e.name))
			}
		}
		if all.Kind() == jsondoc.Null || r.isEmpty(all) {
			r.note(metadata.RemoveMember(field))
		}
	}
}
