package review

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// maxStuck bounds the abandoned conversions of one kind that still run. More would only take more
// memory and processor time.
const maxStuck = 8

var (
	errStuck = errors.New("converter did not return before the deadline of the request, fix it")
	errFull  = errors.New(strconv.Itoa(maxStuck) +
		" conversions of this kind have never returned, fix the converter and restart webhookd")
)

// stuckCounts counts the abandoned conversions that still run, by kind. It is safe for concurrent
// use.
type stuckCounts struct {
	hook func(kind string, delta int) // may be nil

	mu     sync.Mutex
	counts map[string]int // by name of the kind
	all    atomic.Int64   // of all kinds
}

// count adds delta to the count of a kind. It ignores an empty kind.
func (s *stuckCounts) count(kind string, delta int) {
	if kind == "" {
		return
	}
	s.mu.Lock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[kind] += delta
	s.mu.Unlock()
	s.all.Add(int64(delta))
	if s.hook != nil {
		s.hook(kind, delta)
	}
}

// full reports whether the kind has as many stuck conversions as it may have.
func (s *stuckCounts) full(kind string) bool {
	if s.all.Load() < maxStuck { // most often
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[kind] >= maxStuck
}

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
	_, pair, _ := c.route(&src, to)
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
	s, _ := c.doc.Scanner(jsondoc.MaxDepth)     // the first error stays
	src, _ := c.envelope.decodeObject(c.doc, s) // without an outline, the object stays unnamed
	return src
}
