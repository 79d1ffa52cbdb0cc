package serve

import (
	"context"
	"sync"

	"github.com/crdconvert/webhookd/internal/review"
)

const (
	// queueBatch is the number of reviews that are written at once: some tens of KiB.
	queueBatch = 128
	// queueBound is how many reviews may wait. Reviews beyond it are dropped and counted like
	// lines.
	queueBound = 4096
)

// A reviewQueue moves the encoding of reviews from their requests to the goroutine that writes the
// log. In a batch, a review costs a third of what it costs within a request (make bench-serve, one
// small object). It is safe for concurrent use.
type reviewQueue struct {
	log *reviewLog
	out *LogWriter

	mu      sync.Mutex
	waiting []review.Result
	spare   []review.Result
}

// newReviewQueue returns a queue that out drains before each write.
func newReviewQueue(log *reviewLog, out *LogWriter) *reviewQueue {
	q := &reviewQueue{log: log, out: out}
	out.gatherFrom(q.drain)
	return q
}

func (q *reviewQueue) reviewDone(_ context.Context, r review.Result) {
	if !q.log.take(&r) {
		return
	}
	q.mu.Lock()
	n := len(q.waiting)
	if n < queueBound {
		q.waiting = append(q.waiting, r)
	}
	q.mu.Unlock()
	switch n {
	case 0:
		notify(q.out.wake)
	case queueBatch:
		notify(q.out.full)
	case queueBound:
		q.out.dropped.Add(1)
	}
}

func (q *reviewQueue) panicked(ctx context.Context, p review.Panic) { q.log.panicked(ctx, p) }

func (q *reviewQueue) stuck(kind string, more int) { q.log.stuck(kind, more) }

func (q *reviewQueue) costLimited(pair review.Pair, objects int) { q.log.costLimited(pair, objects) }

// drain writes the lines of the waiting reviews.
func (q *reviewQueue) drain() {
	q.mu.Lock()
	batch := q.waiting
	q.waiting, q.spare = q.spare[:0], nil
	q.mu.Unlock()
	for i := range batch {
		q.log.write(&batch[i])
	}
	clear(batch) // release the strings
	q.mu.Lock()
	q.spare = batch
	q.mu.Unlock()
}
