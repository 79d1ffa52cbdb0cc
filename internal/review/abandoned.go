package review

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// answerAbandoned answers a review whose conversion was abandoned. It uses only those fields of
// gone that do not change during a conversion, and decodes the failed object again. It asks for no
// memory, because the memory of the request belongs to the other goroutine.
func (r *Reviewer) answerAbandoned(ctx context.Context, gone *conversion, body []byte, started time.Time) *conversion {
	t := &gone.task
	defer close(t.answered)
	if r.hooks.Hold != nil {
		t.release = r.hooks.Hold(ctx)
	}
	// Not from the pool: those conversions reserve memory.
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
	c.doc.Reset(body) // for the uid
	took := c.now.Sub(started)
	c.observe(pair, took, errStuck)
	c.flush()
	c.fail(failureMessage(c.failures, c.failed, len(c.envelope.objects)))
	c.report(ctx, nil, took)
	return c
}

// readAgain resets the document to one object of the body and decodes it.
func (c *conversion) readAgain(body []byte, at jsondoc.Span) source {
	c.doc.Reset(body[at.Start:at.End])
	s, err := c.doc.Scanner(jsondoc.MaxDepth)
	if err != nil { // impossible: the same text was decoded before
		return source{}
	}
	src, _ := decodeObject(c.doc, s) // without an outline, the object stays unnamed
	return src
}
