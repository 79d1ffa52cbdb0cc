package rules

import (
	"context"
	"fmt"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A converter converts between the hub of a CRD and its other versions. It is safe for concurrent use.
type converter struct {
	group, hub string
	spokes     map[string]*spoke
	schemas    map[string]*crdschema.Version
	desks      desks
}

// A spoke is a version with the programs to the hub and from it.
type spoke struct{ toHub, fromHub *program }

// Convert implements converters.Converter.
func (c *converter) Convert(ctx context.Context, obj *jsondoc.Object, from, to string) error {
	var there, back *program
	if s := c.spokes[from]; s != nil && to == c.hub {
		there, back = s.toHub, s.fromHub
	} else if s := c.spokes[to]; s != nil && from == c.hub {
		there, back = s.fromHub, s.toHub
	} else {
		return &jsondoc.PathError{Problem: fmt.Sprintf("no rules convert %s to %s, add the version", from, to), Path: ".apiVersion"}
	}
	d := c.desks.get()
	v := &d.job
	*v = conversion{
		ctx: ctx, group: c.group, schemas: c.schemas, desks: &c.desks, desk: d, obj: obj, from: from, to: to, there: there, back: back,
	}
	err := v.convert()
	c.desks.put(d)
	return err
}

// desks are those that nobody uses at the moment.
type desks struct{ pool sync.Pool }

func (d *desks) get() *desk {
	if d, ok := d.pool.Get().(*desk); ok {
		return d
	}
	made := &desk{}
	made.there.see, made.compare.see = made.there.shown.see, made.compare.shown.see
	return made
}

func (d *desks) put(free *desk) {
	free.clear()
	d.pool.Put(free)
}

// A desk is the memory of a conversion, which the next one uses again. One that panics leaves it to the garbage collector.
type desk struct {
	docs    [4]jsondoc.Document
	used    int
	job     conversion
	there   run // what runs programs
	compare run // what looks at their results
}

// open returns the object that text is, good until the desk is cleared.
func (d *desk) open(text []byte) (*jsondoc.Object, error) {
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
func (d *desk) clear() {
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
	there, back *program
	schemas     map[string]*crdschema.Version
	desks       *desks
	desk        *desk
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
	stash = v.desk.compare.accepted(stash)
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
	return v.desk.open(v.source)
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
func (v *conversion) run(p *program, obj *jsondoc.Object, version string, is shown) (doubt bool, err error) {
	is.group, is.version = v.group, version
	r := &v.desk.there
	r.reset(v.ctx, is)
	r.program(p, obj.Node)
	if err := v.ctx.Err(); err != nil {
		return false, err
	}
	return r.doubt, r.err
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
