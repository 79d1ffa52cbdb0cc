package review

import (
	"context"
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

// A Reviewer answers ConversionReviews. It is safe for concurrent use.
type Reviewer struct {
	registry    func() *converters.Registry
	hooks       Hooks
	conversions sync.Pool
}

// NewReviewer returns a Reviewer that converts with what registry returns; one review sees one registry from its first
// object to its last.
func NewReviewer(registry func() *converters.Registry, hooks Hooks) *Reviewer {
	r := &Reviewer{registry: registry, hooks: hooks}
	r.conversions.New = func() any { return &conversion{doc: &jsondoc.Document{}} }
	return r
}

// Review appends the answer to the ConversionReview in body to dst. The answer has the version and the uid of the
// request, and either all objects in their order at desiredAPIVersion or a message that names each one that failed. The
// error is a *RequestError if body cannot be answered with a review at all. Body must not change meanwhile; nothing of
// it is kept.
func (r *Reviewer) Review(ctx context.Context, dst, body []byte) ([]byte, error) {
	c := r.begin()
	defer r.end(c)
	if err := r.review(ctx, c, body); err != nil {
		return dst, err
	}
	return c.out.AppendTo(dst), nil
}

func (r *Reviewer) begin() *conversion { return r.conversions.Get().(*conversion) } //nolint:forcetypeassert // New's

func (r *Reviewer) end(c *conversion) {
	c.doc.Reset(nil) // lets go of the body
	r.conversions.Put(c)
}

// review leaves the answer in c.out.
func (r *Reviewer) review(ctx context.Context, c *conversion, body []byte) error {
	started := time.Now()
	c.reset(r.registry(), r.hooks)
	err := c.envelope.decode(c.doc, body)
	if err != nil {
		err = requestError(err)
	} else {
		err = c.envelope.check()
	}
	if err == nil {
		c.answer(ctx)
	}
	c.report(ctx, body, err, time.Since(started))
	return err
}

// A conversion is the state of one review in progress. It is reused.
type conversion struct {
	doc      *jsondoc.Document
	envelope envelope
	out      jsondoc.Output
	failures []failure
	registry *converters.Registry
	hooks    Hooks
	batch    batch
	message  string // of a failed review
}

func (c *conversion) reset(registry *converters.Registry, hooks Hooks) {
	c.registry, c.hooks = registry, hooks
	c.failures, c.message = c.failures[:0], ""
	c.batch = batch{durations: c.batch.durations[:0]}
}

// answer converts all objects and puts the whole review into c.out.
func (c *conversion) answer(ctx context.Context) {
	group, version, problem := c.envelope.target()
	c.openAnswer()
	c.out.PutText(`,"convertedObjects":[`)
	if problem == "" {
		c.convertAll(ctx, schema.GroupVersion{Group: group, Version: version})
	}
	switch {
	case problem != "":
		c.fail(problem)
	case len(c.failures) > 0:
		c.fail(failureMessage(c.failures, len(c.envelope.objects)))
	default:
		c.out.PutText("],\"result\":{\"status\":\"Success\"}}}\n")
	}
}

// openAnswer starts the review: its version is the request's, and so is the uid, letter for letter.
func (c *conversion) openAnswer() {
	c.out.Reset(c.doc)
	c.out.PutText(`{"kind":"ConversionReview","apiVersion":"` + c.envelope.apiVersion + `","response":{"uid":`)
	c.out.PutSpan(c.envelope.uidText)
}

// fail makes the answer one without objects (invariant I5).
func (c *conversion) fail(message string) {
	c.message = message
	c.openAnswer()
	text := string(jsondoc.StringValue(message).Text())
	c.out.PutText(`,"convertedObjects":[],"result":{"status":"Failed","message":` + text + "}}}\n")
}

func (c *conversion) convertAll(ctx context.Context, to schema.GroupVersion) {
	now := time.Now()
	for i := range c.envelope.objects {
		if i > 0 {
			c.out.PutText(",")
		}
		pair, err := c.convert(ctx, &c.envelope.objects[i], to, i)
		if err != nil {
			c.failures = append(c.failures, c.describe(i, to, err))
		}
		began := now
		now = time.Now()
		c.observe(pair, now.Sub(began), err)
	}
	c.flush()
}

// convert puts one object, converted, into the output. The pair is what metrics may name.
func (c *conversion) convert(ctx context.Context, src *source, to schema.GroupVersion, index int) (Pair, error) {
	if src.problem != "" {
		return unknownPair(), &jsondoc.PathError{Problem: src.problem, Path: ".request.objects[" + strconv.Itoa(index) + "]"}
	}
	obj := c.doc.Open(src.Outline)
	apiVersion, name, err := identify(obj)
	if err != nil {
		return unknownPair(), err
	}
	if apiVersion == c.envelope.desired {
		c.out.PutSpan(src.Span)
		return Pair{}, nil
	}
	from, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || from.Group != to.Group {
		return unknownPair(), &jsondoc.PathError{Problem: "group differs from that of desiredAPIVersion", Path: ".apiVersion"}
	}
	kind := c.registry.Lookup(schema.GroupKind{Group: to.Group, Kind: name})
	pair, err := pairOf(kind, from.Version, to.Version)
	if err == nil {
		err = c.run(ctx, kind, src.Outline, obj, pair)
	}
	if err == nil {
		c.out.Put(obj.Node)
	}
	return pair, err
}

// run converts obj and sees to it that the result is one that the API server takes. A panic is that object's failure.
func (c *conversion) run(
	ctx context.Context, kind *converters.Kind, src jsondoc.Outline, obj *jsondoc.Object, pair Pair,
) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.panicked(ctx, pair, v)
		}
	}()
	if ctx.Err() != nil {
		return ErrDeadline
	}
	if err := kind.Convert(ctx, obj, pair.From, pair.To); err != nil {
		return err
	}
	if err := c.guard(src, obj); err != nil {
		return err
	}
	return obj.Set(c.doc.Value(c.envelope.desiredText), "apiVersion")
}

// identify returns what says which converter an object needs.
func identify(obj *jsondoc.Object) (apiVersion, kind string, err error) {
	v, err := obj.Get("apiVersion")
	if err != nil {
		return "", "", err
	}
	k, err := obj.Get("kind")
	if err != nil {
		return "", "", err
	}
	apiVersion, _ = v.Str()
	kind, _ = k.Str()
	switch {
	case apiVersion == "":
		err = &jsondoc.PathError{Problem: "object without a version, set it to GROUP/VERSION", Path: ".apiVersion"}
	case kind == "":
		err = &jsondoc.PathError{Problem: "object without a kind, set it", Path: ".kind"}
	}
	return apiVersion, kind, err
}

// pairOf checks that the registry has a converter for the versions.
func pairOf(kind *converters.Kind, from, to string) (Pair, error) {
	if kind == nil {
		return unknownPair(), &jsondoc.PathError{
			Problem: "no converter for this kind, add its rules or compile one in", Path: ".kind",
		}
	}
	pair := Pair{Kind: kind.Name(), From: from, To: to}
	for _, v := range []*string{&pair.From, &pair.To} {
		if !kind.Has(*v) {
			unknown := *v
			*v = Unknown
			return pair, &jsondoc.PathError{
				Problem: "no converter for version " + printable(unknown) + ", this kind has " + strings.Join(kind.Versions, ", "),
				Path:    ".apiVersion",
			}
		}
	}
	return pair, nil
}

// describe names the object of a failure as well as its text allows.
func (c *conversion) describe(index int, to schema.GroupVersion, err error) failure {
	f := failure{index: index, err: err}
	src := &c.envelope.objects[index]
	if src.problem != "" {
		return f
	}
	member := func(o jsondoc.Outline, name string) string {
		at, _ := c.doc.Member(o, name)
		if text := c.doc.Text(at); len(text) > 0 && text[0] == '"' {
			return jsondoc.Unquote(text)
		}
		return ""
	}
	f.kind = member(src.Outline, "kind")
	if apiVersion := member(src.Outline, "apiVersion"); apiVersion != "" {
		f.from, f.to = apiVersion[strings.LastIndexByte(apiVersion, '/')+1:], to.Version
	}
	if meta, err := c.sourceMetadata(src.Outline); err == nil {
		f.name, f.ns = textOf(meta, "name"), textOf(meta, "namespace")
	}
	return f
}

func textOf(o *jsondoc.Object, name string) string {
	n, _ := o.Member(name)
	text, _ := n.Str()
	return text
}
