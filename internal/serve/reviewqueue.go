package serve

import (
	"context"
	"sync"

	"github.com/crdconvert/webhookd/internal/review"
)

const (
	// queueBatch is how many reviews wait no longer to be put into lines: some tens of KiB.
	queueBatch = 128
	// queueBound is how many reviews may wait. What comes beyond is dropped and counted, as lines are.
	queueBound = 4096
)

// A reviewQueue takes reviews off the path of their requests, and has them put into lines by the goroutine that writes the
// log: many in a row cost a third of what one does among everything else (make bench-serve, one small object). It is safe
// for concurrent use.
type reviewQueue struct {
	log *reviewLog
	out *LogWriter

	mu      sync.Mutex
	waiting []review.Result
	spare   []review.Result
}

// newReviewQueue returns a queue that out empties whenever it writes.
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

// drain makes lines of the reviews that wait.
func (q *reviewQueue) drain() {
	q.mu.Lock()
	batch := q.waiting
	q.waiting, q.spare = q.spare[:0], nil
	q.mu.Unlock()
	for i := range batch {
		q.log.write(&batch[i])
	}
	clear(batch) // lets go of the strings
	q.mu.Lock()
	q.spare = batch
	q.mu.Unlock()
}
