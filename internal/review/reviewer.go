package review

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// The versions of ConversionReview that are answered, each in kind.
const (
	versionV1      = "apiextensions.k8s.io/v1"
	versionV1beta1 = "apiextensions.k8s.io/v1beta1"
)

const (
	// lookEvery is after how many objects the review looks whether its client has gone.
	lookEvery = 16
	// slice is how long a review has the processor before it lets others have it: one of a single object is not to wait for
	// many of thousands. Those of hundreds are done by then: more of them side by side take more memory, and a fifth more
	// of the processor (make bench-serve).
	slice = 5 * time.Millisecond
)

// A Reviewer answers ConversionReviews. It is safe for concurrent use.
type Reviewer struct {
	registry    func() *converters.Registry
	hooks       Hooks
	conversions sync.Pool
	stuck       stuckKinds
}

// NewReviewer returns a Reviewer that converts with what registry returns; one review sees one registry from its first
// object to its last.
func NewReviewer(registry func() *converters.Registry, hooks Hooks) *Reviewer {
	r := &Reviewer{registry: registry, hooks: hooks}
	r.stuck.told = hooks.Stuck
	r.conversions.New = func() any {
		c := &conversion{doc: &jsondoc.Document{}, stuck: &r.stuck}
		if hooks.Reserve != nil {
			c.doc.Reserve = c.reserve
		}
		return c
	}
	return r
}

// Review appends the answer to the ConversionReview in body to dst. The answer has the version and the uid of the
// request, and either all objects in their order at desiredAPIVersion or a message that names each one that failed. The
// error is a *RequestError if body cannot be answered with a review at all. Body must not change meanwhile; nothing of
// it is kept. If ctx has a deadline and a converter in Go overruns it, the answer does without it, and body belongs to that
// converter until it returns.
func (r *Reviewer) Review(ctx context.Context, dst, body []byte) ([]byte, error) {
	c, err := r.review(ctx, body)
	defer r.end(c)
	if err != nil {
		return dst, err
	}
	return c.out.AppendTo(dst), nil
}

// maxReused is the size of a body in bytes up to which the memory that its review took is kept for the next.
const maxReused = 4 << 20

// end lets go of a conversion that is not another goroutine's.
func (r *Reviewer) end(c *conversion) {
	if c.bytesIn <= maxReused && !c.overdue {
		c.doc.Reset(nil) // lets go of the body
		c.reporting.Clear()
		clear(c.failures)
		c.registry, c.message, c.ctx, c.refused, c.kind, c.batch.old = nil, "", nil, nil, nil, nil
		r.conversions.Put(c)
	}
}

// review returns a conversion with the answer in its output.
func (r *Reviewer) review(ctx context.Context, body []byte) (*conversion, error) {
	c := r.conversions.Get().(*conversion) //nolint:forcetypeassert // New's
	c.now = time.Now()
	started := c.now
	c.reset(r.registry(), r.hooks, len(body))
	c.ctx, c.reserved = ctx, 0
	err := c.envelope.decode(c.doc, body)
	if err != nil {
		err = requestError(err)
	} else {
		err = c.envelope.check()
	}
	if err == nil && !c.answer(ctx) {
		return r.giveUp(ctx, c, body, started), nil
	}
	if c.refused != nil {
		return c, c.refused
	}
	c.flush()
	if c.now.Equal(started) { // nothing was converted
		c.now = time.Now()
	}
	c.report(ctx, err, c.now.Sub(started))
	return c, err
}

// A conversion is the state of one review in progress. It is reused.
type conversion struct {
	doc       *jsondoc.Document
	bytesIn   int
	envelope  envelope
	out       jsondoc.Output
	failed    int       // objects
	failures  []failure // those that a message has room for
	registry  *converters.Registry
	hooks     Hooks
	batch     batch
	now       time.Time                // when the clock was read last, which costs as much as converting a field
	late      bool                     // the deadline has passed, or the client has gone
	kind      *converters.Kind         // of the object at hand; nil: none was found
	keeps     bool                     // values of the object at hand were kept in annotations
	noted     converters.Report        // of the object at hand
	reporting converters.ReportContext // what converters are given
	message   string                   // of a failed review
	ctx       context.Context          //nolint:containedctx // for reserve, of one review at a time
	reserved  int64                    // bytes for the conversion of objects
	refused   error                    // what Hooks.Reserve said, if not nil
	next      int                      // the index of the object that is converted next
	alone     bool                     // nobody waits until the review is overdue, or another goroutine does
	task      task                     // of what is converted apart
	stuck     *stuckKinds
	overdue   bool // it answers in place of one that was given up
	memos     struct{ apiVersion, kind memo }
}

func (c *conversion) reset(registry *converters.Registry, hooks Hooks, bytesIn int) {
	c.registry, c.hooks, c.bytesIn = registry, hooks, bytesIn
	c.failed, c.failures, c.message, c.next = 0, c.failures[:0], "", 0
	c.out.Reset(c.doc) // of the answer before, whose text is no longer there
	c.batch = batch{Objects: Objects{Durations: c.batch.Durations[:0], Kept: c.batch.Kept[:0]}}
}

// answer converts all objects and puts the whole review into c.out. It reports false if the conversion was given up.
func (c *conversion) answer(ctx context.Context) bool {
	group, version, problem := c.envelope.target()
	if problem != "" {
		c.failed = len(c.envelope.objects)
		c.fail(problem)
		return true
	}
	c.openAnswer()
	to := schema.GroupVersion{Group: group, Version: version}
	ctx = c.reporting.With(ctx, &c.noted)
	_, bounded := ctx.Deadline()
	c.alone = !bounded
	if !c.convertAll(ctx, to) && !c.convertApart(ctx, to) {
		return false
	}
	if c.failed > 0 {
		c.fail(failureMessage(c.failures, c.failed, len(c.envelope.objects)))
		return true
	}
	c.out.PutText("],\"result\":{\"status\":\"Success\"}}}\n")
	return true
}

// openAnswer starts the review: its version is the request's, and so is the uid, letter for letter.
func (c *conversion) openAnswer() {
	c.out.Reset(c.doc)
	c.out.PutText(`{"kind":"ConversionReview","apiVersion":"`)
	c.out.PutText(c.envelope.apiVersion)
	c.out.PutText(`","response":{"uid":`)
	c.out.PutSpan(c.envelope.uid.at)
	c.out.PutText(`,"convertedObjects":[`)
}

// fail makes the answer one without objects (invariant I5).
func (c *conversion) fail(message string) {
	c.message = message
	c.openAnswer()
	text := string(jsondoc.StringValue(message).Text())
	c.out.PutText(`],"result":{"status":"Failed","message":` + text + "}}}\n")
}

// convertAll converts the objects that are left. It reports false if the next one has to be converted apart.
func (c *conversion) convertAll(ctx context.Context, to schema.GroupVersion) bool {
	c.now = time.Now()
	deadline, bounded := ctx.Deadline()
	gone, began := ctx.Err() != nil, c.now
	for ; c.next < len(c.envelope.objects); c.next++ {
		i := c.next
		if i%lookEvery == lookEvery-1 {
			gone = ctx.Err() != nil
			if c.now.Sub(began) >= slice {
				runtime.Gosched()
				c.now = time.Now() // the others' time is neither this slice's nor the next object's
				began = c.now
			}
		}
		// The context would read the clock again for each object.
		c.late = gone || bounded && !c.now.Before(deadline)
		c.kind, c.keeps, c.noted = nil, false, converters.Report{}
		pair, err := c.convert(ctx, &c.envelope.objects[i], to, i)
		if errors.Is(err, errApart) {
			return false
		}
		if c.task.givenUp() {
			return true
		}
		if err != nil {
			c.describe(i, &c.envelope.objects[i], to, err)
		}
		began := c.now
		c.now = time.Now()
		c.observe(pair, c.now.Sub(began), err)
	}
	return true
}

// errApart tells of an object that has to be converted on a goroutine of its own.
var errApart = errors.New("converter may not return")

// separate puts the comma before the next object, if there is one before it: the body's own where the objects stand beside
// each other there, so that what is untouched around it stays one piece (BenchmarkReview).
func (c *conversion) separate() {
	i := c.next
	if i == 0 {
		return
	}
	gap := jsondoc.Span{Start: c.envelope.objects[i-1].End, End: c.envelope.objects[i].Start}
	if gap.Start+1 == gap.End {
		c.out.PutSpan(gap)
	} else {
		c.out.PutText(",")
	}
}

// convert puts one object, converted, into the output. The pair is what metrics may name.
func (c *conversion) convert(ctx context.Context, src *source, to schema.GroupVersion, index int) (Pair, error) {
	if src.problem != "" {
		return unknownPair(), &jsondoc.PathError{Problem: src.problem, Path: ".request.objects[" + strconv.Itoa(index) + "]"}
	}
	apiVersion, name, err := c.identify(src.Outline)
	if err != nil {
		return unknownPair(), err
	}
	if apiVersion == c.envelope.desired.says {
		c.separate()
		c.out.PutSpan(src.Span)
		return Pair{}, nil
	}
	kind, pair, err := c.route(apiVersion, name, to)
	if err != nil {
		return pair, err
	}
	if c.stuck.full(pair.Kind) {
		return pair, errFull
	}
	if !c.alone && !c.late && !kind.Interruptible() {
		return pair, errApart
	}
	if err := c.reserveFor(src.Span); err != nil {
		return pair, err
	}
	c.task.object.Store(int64(index))
	c.kind = kind
	return pair, c.run(ctx, kind, src.Outline, pair)
}

// route returns the kind that converts an object, and between which versions.
func (c *conversion) route(apiVersion, name string, to schema.GroupVersion) (*converters.Kind, Pair, error) {
	from, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || from.Group != to.Group {
		return nil, unknownPair(), &jsondoc.PathError{
			Problem: "group is not that of desiredAPIVersion, send objects of one group", Path: ".apiVersion",
		}
	}
	kind := c.registry.Lookup(schema.GroupKind{Group: to.Group, Kind: name})
	pair, err := pairOf(kind, from.Version, to.Version)
	return kind, pair, err
}

// run converts one object and sees to it that the result is one that the API server takes. A panic, of the converter or
// of its error's methods, is that object's failure.
func (c *conversion) run(ctx context.Context, kind *converters.Kind, src jsondoc.Outline, pair Pair) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.panicked(ctx, pair, v)
		}
	}()
	if c.late {
		return ErrDeadline
	}
	obj := c.doc.Open(src)
	root := obj.Node
	if err := kind.Convert(ctx, obj, pair.From, pair.To); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return ErrDeadline
		}
		return converterError(err)
	}
	if obj.Node != root {
		return errExchanged
	}
	if err := c.guard(src, obj); err != nil {
		if _, is := errors.AsType[*sizeError](err); is {
			c.noted.NoteTooLarge()
		}
		return err
	}
	if c.keeps, err = c.noted.Measure(obj, pair.From); err != nil {
		return err
	}
	if err := obj.Set(c.doc.Value(c.envelope.desired.at), "apiVersion"); err != nil {
		return err
	}
	c.separate()
	c.out.Put(root)
	return nil
}

// errExchanged tells of an object whose text is not the request's, and so cannot be spliced into the answer.
var errExchanged = errors.New("converter put another object in the place of the one it was given, edit that one")

// pairOf checks that the registry has a converter for the versions.
func pairOf(kind *converters.Kind, from, to string) (Pair, error) {
	if kind == nil {
		return unknownPair(), &jsondoc.PathError{
			Problem: "no converter for this kind, add rules for it or compile one in", Path: ".kind",
		}
	}
	pair := Pair{Kind: kind.Name(), From: from, To: to}
	var problems []error
	check := func(version *string, path string) {
		if !kind.Has(*version) {
			problems = append(problems, &jsondoc.PathError{
				Problem: "no converter for version " + printable(*version, maxLabel) +
					", use one of " + strings.Join(kind.Versions, ", "),
				Path: path,
			})
			*version = Unknown
		}
	}
	check(&pair.From, ".apiVersion")
	check(&pair.To, ".request.desiredAPIVersion")
	return pair, errors.Join(problems...)
}

// describe counts a failure and names its object as well as its text allows.
func (c *conversion) describe(index int, src *source, to schema.GroupVersion, err error) {
	if c.failed++; c.failed > maxNamed {
		return
	}
	f := failure{index: index, reason: reason(err)}
	if src.problem == "" {
		f.kind = c.str(src.Outline, "kind", &memo{})
		if apiVersion := c.str(src.Outline, "apiVersion", &memo{}); apiVersion != "" {
			f.from, f.to = apiVersion[strings.LastIndexByte(apiVersion, '/')+1:], to.Version
		}
		f.name, f.ns = c.inMetadata(src.Outline, "name"), c.inMetadata(src.Outline, "namespace")
	}
	c.failures = append(c.failures, f)
}
