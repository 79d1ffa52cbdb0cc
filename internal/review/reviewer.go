package review

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Supported versions of ConversionReview. The answer has the version of the request.
const (
	versionV1      = "apiextensions.k8s.io/v1"
	versionV1beta1 = "apiextensions.k8s.io/v1beta1"
)

// lookEvery is after how many objects a review checks whether its client has gone.
const lookEvery = 16

// A Reviewer answers ConversionReviews. It is safe for concurrent use.
type Reviewer struct {
	registry    func() *converters.Registry
	hooks       Hooks
	conversions sync.Pool
	stuck       stuckCounts
}

// NewReviewer returns a Reviewer that converts with the current result of registry. A review uses
// one registry from its first object to its last.
func NewReviewer(registry func() *converters.Registry, hooks Hooks) *Reviewer {
	r := &Reviewer{registry: registry, hooks: hooks}
	r.stuck.hook = hooks.Stuck
	r.conversions.New = func() any {
		c := &conversion{doc: &jsondoc.Document{}, stuck: &r.stuck}
		c.doc.Reserve = c.reserve
		return c
	}
	return r
}

// Review appends the answer to the ConversionReview in body to dst. The answer has the version and
// the uid of the request. It has either all objects in their order at desiredAPIVersion, or a
// message that names each failed object. The error is a *RequestError if body cannot be answered
// with a review.
// Body must not change during the call; Review keeps nothing of it. The exception is a deadline of
// ctx that a converter in Go misses: the review is answered without that converter, and body
// belongs to the converter until it returns.
func (r *Reviewer) Review(ctx context.Context, dst, body []byte) ([]byte, error) {
	c, err := r.review(ctx, body)
	defer r.end(c)
	if err != nil {
		return dst, err
	}
	return c.out.AppendTo(dst), nil
}

// end returns a conversion to the pool, unless another goroutine uses it or it has room for very
// many objects: what is kept is memory that no request has reserved. The document drops its own.
func (r *Reviewer) end(c *conversion) {
	if cap(c.envelope.objects) <= objectsAtOnce && !c.overdue {
		c.doc.Reset(nil) // drops the body
		c.reporting.Clear()
		clear(c.failures)
		clear(c.envelope.objects) // layouts of rules that may have gone since
		c.registry, c.envelope.registry = nil, nil
		c.message, c.ctx, c.refused, c.kind, c.batch.outdated = "", nil, nil, nil, nil
		r.conversions.Put(c)
	}
}

// review returns a conversion with the answer in its output.
func (r *Reviewer) review(ctx context.Context, body []byte) (*conversion, error) {
	c := r.conversions.Get().(*conversion) //nolint:forcetypeassert // New's
	c.now = time.Now()
	started := c.now
	c.reset(r.registry(), r.hooks, len(body))
	c.ctx, c.heavy = ctx, 0
	err := c.envelope.decode(c.doc, body, c.registry)
	if err != nil {
		err = requestError(err)
	} else {
		err = c.envelope.check()
	}
	if err == nil && !c.answer(ctx) {
		return r.answerAbandoned(ctx, c, body, started), nil
	}
	if err == nil && c.refused == nil {
		_ = c.reserveAnswer()
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
	failed    int       // number of objects
	failures  []failure // as many as a message has room for
	registry  *converters.Registry
	hooks     Hooks
	batch     batch
	now       time.Time                // last reading of the clock, which costs as much as converting a field
	late      bool                     // the deadline has passed, or the client has gone
	kind      *converters.Kind         // of the current object; nil: none was found
	keeps     bool                     // the current object has kept values in its annotations
	noted     converters.Report        // of the current object
	reporting converters.ReportContext // passed to converters
	message   string                   // for a failed review
	ctx       context.Context          //nolint:containedctx // for reserve, of one review at a time
	heavy     int64                    // as last passed to Hooks.Heavy
	refused   error                    // the error of Hooks.Reserve or Hooks.Heavy
	next      int                      // index of the next object
	inline    bool                     // convert all objects on this goroutine
	task      task                     // of a detached conversion
	stuck     *stuckCounts
	overdue   bool // it answers for an abandoned conversion
}

func (c *conversion) reset(registry *converters.Registry, hooks Hooks, bytesIn int) {
	c.registry, c.hooks, c.bytesIn = registry, hooks, bytesIn
	c.failed, c.failures, c.message, c.next = 0, c.failures[:0], "", 0
	c.out.Reset(c.doc) // drops the previous answer, whose text is gone
	c.batch = batch{Objects: Objects{Durations: c.batch.Durations[:0], Kept: c.batch.Kept[:0]}}
}

// answer converts all objects and writes the whole review to c.out. It returns false if the
// conversion was abandoned.
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
	c.inline = !bounded
	if !c.convertAll(ctx, to) && !c.convertDetached(ctx, to) {
		return false
	}
	if c.failed > 0 {
		c.fail(failureMessage(c.failures, c.failed, len(c.envelope.objects)))
		return true
	}
	c.out.PutText(objectsEnd)
	return true
}

// The converted objects of an answer are between these.
const (
	objectsBegin = `,"convertedObjects":[`
	objectsEnd   = `],"result":{"status":"Success"}}}` + "\n"
)

// openAnswer starts the review with the version and the literal uid of the request.
func (c *conversion) openAnswer() {
	c.out.Reset(c.doc)
	c.out.PutText(`{"kind":"ConversionReview","apiVersion":"`)
	c.out.PutText(c.envelope.apiVersion)
	c.out.PutText(`","response":{"uid":`)
	c.out.PutSpan(c.envelope.uid.at)
	c.out.PutText(objectsBegin)
}

// fail replaces the answer with one without objects (invariant I5).
func (c *conversion) fail(message string) {
	c.message = message
	c.openAnswer()
	text := string(jsondoc.StringValue(message).Text())
	c.out.PutText(`],"result":{"status":"Failed","message":` + text + "}}}\n")
}

// convertAll converts the remaining objects. It returns false if the next one must be converted on
// another goroutine.
func (c *conversion) convertAll(ctx context.Context, to schema.GroupVersion) bool {
	c.now = time.Now()
	deadline, bounded := ctx.Deadline()
	gone := ctx.Err() != nil
	for ; c.next < len(c.envelope.objects); c.next++ {
		i := c.next
		if i%lookEvery == lookEvery-1 {
			gone = ctx.Err() != nil
		}
		// ctx.Err would read the clock again for each object.
		c.late = gone || bounded && !c.now.Before(deadline)
		c.kind, c.keeps, c.noted = nil, false, converters.Report{}
		pair, err := c.convert(ctx, &c.envelope.objects[i], to, i)
		if errors.Is(err, errDetach) {
			return false
		}
		if c.task.abandoned() || c.refused != nil {
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

// errDetach says that an object must be converted on a goroutine of its own.
var errDetach = errors.New("converter may not return")

// putComma puts the comma before the next object, if it is not the first. It reuses the comma of
// the body where that has no space around it, so the untouched text around it stays one piece
// (BenchmarkReview).
func (c *conversion) putComma() {
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

// convert writes one converted object to the output. The pair is for metrics.
func (c *conversion) convert(ctx context.Context, src *source, to schema.GroupVersion, index int) (Pair, error) {
	if src.problem != "" {
		return unknownPair(), &jsondoc.PathError{Problem: src.problem, Path: ".request.objects[" + strconv.Itoa(index) + "]"}
	}
	if err := c.identify(src); err != nil {
		return unknownPair(), err
	}
	if src.apiVersion == c.envelope.desired.value {
		c.putComma()
		c.out.PutSpan(src.Span)
		return Pair{}, nil
	}
	kind, pair, err := c.route(src, to)
	if err != nil {
		return pair, err
	}
	if c.stuck.full(pair.Kind) {
		return pair, errFull
	}
	if !c.inline && !c.late && !kind.Interruptible() {
		return pair, errDetach
	}
	if kind.Interruptible() { // else it may wait, and others with it
		if err := c.heavyTurn(src.Span); err != nil {
			return pair, err
		}
	}
	c.task.object.Store(int64(index))
	c.kind, c.noted.Searched = kind, &src.searched
	return pair, c.run(ctx, kind, src.Outline, pair)
}

// route returns the converter of an object and its pair of versions.
func (c *conversion) route(src *source, to schema.GroupVersion) (*converters.Kind, Pair, error) {
	from, _ := schema.ParseGroupVersion(src.apiVersion) // zero if that fails
	if from.Group != to.Group {
		return nil, unknownPair(), &jsondoc.PathError{
			Problem: "group is not that of desiredAPIVersion, send objects of one group", Path: ".apiVersion",
		}
	}
	gk := schema.GroupKind{Group: to.Group, Kind: src.kind}
	kind := c.registry.Lookup(gk)
	if kind == nil {
		return nil, unknownPair(), c.noConverter(gk)
	}
	pair, err := pairOf(kind, from.Version, to.Version)
	return kind, pair, err
}

// noConverter says that the registry has no converter for a kind, and whether it has one for its
// namesakes in other groups.
func (c *conversion) noConverter(gk schema.GroupKind) error {
	const most = 3 // namesakes in a message
	name := printable(gk.Kind, maxLabel) + "." + printable(gk.Group, maxLabel)
	if others := c.registry.Namesakes(gk); len(others) > 0 {
		only := strings.Join(others[:min(most, len(others))], ", ")
		return &jsondoc.PathError{Problem: "no converter for " + name + ", only for " + only, Path: ".apiVersion"}
	}
	return &jsondoc.PathError{Problem: "no converter for " + name + ", add rules for it or compile one in", Path: ".kind"}
}

// run converts one object and checks that the API server will accept the result. A panic of the
// converter, or of a method of its error, fails only that object.
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
		if errors.Is(err, ctx.Err()) { // not if that is nil
			return ErrDeadline
		}
		return converterError(err)
	}
	if obj.Node != root {
		return errReplaced
	}
	if err := c.guard(src, obj); err != nil {
		if _, is := errors.AsType[*sizeError](err); is {
			c.noted.TooLarge = true
		}
		return err
	}
	if c.keeps, err = c.noted.Measure(obj, pair.From); err != nil {
		return err
	}
	if err := obj.Set(c.doc.Value(c.envelope.desired.at), "apiVersion"); err != nil {
		return err
	}
	c.putComma()
	c.out.Put(root)
	return nil
}

// errReplaced says that an object is not part of the request's text, and so cannot be spliced into
// the answer.
var errReplaced = errors.New("converter replaced the object it was given, edit that object instead")

// pairOf checks that the registry has a converter for the versions.
func pairOf(kind *converters.Kind, from, to string) (Pair, error) {
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

// describe counts a failure and names its object as far as possible.
func (c *conversion) describe(index int, src *source, to schema.GroupVersion, err error) {
	if c.failed++; c.failed > maxNamed {
		return
	}
	c.failures = append(c.failures, failure{
		index: index, reason: reason(err), kind: src.kind, from: src.apiVersion[strings.LastIndexByte(src.apiVersion, '/')+1:], to: to.Version,
		name: c.inMetadata(src.Outline, "name"), ns: c.inMetadata(src.Outline, "namespace"),
	})
}
