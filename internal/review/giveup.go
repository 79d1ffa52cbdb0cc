package review

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// giveUp answers a review whose conversion was given up at one object. Of that conversion it reads only what does not
// change while objects are converted, and it reads the object again. It asks for no memory: what the request has belongs to
// the other goroutine.
func (r *Reviewer) giveUp(ctx context.Context, gone *conversion, body []byte, started time.Time) *conversion {
	t := &gone.task
	defer close(t.answered)
	if r.hooks.Hold != nil {
		t.release = r.hooks.Hold(ctx)
	}
	// None of the reviewer's conversions: those ask for memory.
	c := &conversion{doc: &jsondoc.Document{}, stuck: gone.stuck, overdue: true, now: time.Now()}
	c.reset(gone.registry, r.hooks, len(body))
	c.envelope = gone.envelope
	group, version, _ := c.envelope.target()
	to := schema.GroupVersion{Group: group, Version: version}
	index := int(t.object.Load())
	src := c.readAgain(body, c.envelope.objects[index].Span)
	apiVersion, kind, _ := c.identify(src.Outline)
	_, pair, _ := c.route(apiVersion, kind, to)
	t.kind = pair.Kind
	c.stuck.count(t.kind, 1)
	c.describe(index, &src, to, errStuck)
	c.doc.Reset(body) // which has the uid
	took := c.now.Sub(started)
	c.observe(pair, took, errStuck)
	c.flush()
	c.fail(failureMessage(c.failures, c.failed, len(c.envelope.objects)))
	c.report(ctx, nil, took)
	return c
}

// readAgain makes the object at a place of the body the document.
func (c *conversion) readAgain(body []byte, at jsondoc.Span) source {
	c.doc.Reset(body[at.Start:at.End])
	s, err := c.doc.Scanner(jsondoc.MaxDepth)
	if err != nil { // not possible: the same text has been read before
		return source{}
	}
	src, _ := decodeObject(c.doc, s) // without an outline, nothing of the object is named
	return src
}
