package serve

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// LogDelay is how long a line may wait for others, to be written together.
	LogDelay = 50 * time.Millisecond
	// logBatch is the number of bytes that are written at once: they still fit the processor's
	// cache.
	logBatch = 32 << 10
	// logPending bounds the waiting lines, in bytes. Lines beyond it are dropped.
	logPending = 1 << 20
	// logKept is the largest buffer in bytes that is kept although it is mostly unused.
	logKept = 64 << 10
	// logGrace is how long Close waits for the last lines to be written.
	logGrace = time.Second
)

// A LogWriter writes lines to a stream in the background, so that a request never waits for the
// reader of the log. It collects lines for LogDelay, which also saves a system call for each, and
// does not wake up when nothing is logged. Whole lines beyond logPending are dropped and counted.
// It implements zapcore.WriteSyncer and is safe for concurrent use.
type LogWriter struct {
	out     io.Writer
	wake    chan struct{} // a line is waiting
	full    chan struct{} // enough lines are waiting to write them now
	closing chan struct{}
	closed  chan struct{} // everything is written
	dropped atomic.Uint64

	mu      sync.Mutex
	pending []byte
	gather  func() // writes more lines; may be nil
}

// NewLogWriter starts the goroutine that writes to out. Close ends it.
func NewLogWriter(out io.Writer) *LogWriter {
	w := &LogWriter{
		out:     out,
		wake:    make(chan struct{}, 1),
		full:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		closed:  make(chan struct{}),
	}
	go w.run()
	return w
}

// gatherFrom makes the writing goroutine call f before each write. f writes lines that requests
// have left to it.
func (w *LogWriter) gatherFrom(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gather = f
}

// Write takes one line. It never fails and never blocks.
func (w *LogWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	before := len(w.pending)
	after := before + len(line)
	if after > logPending {
		w.mu.Unlock()
		w.dropped.Add(1)
		return len(line), nil
	}
	w.pending = append(w.pending, line...)
	w.mu.Unlock()
	if before == 0 {
		notify(w.wake)
	}
	if before < logBatch && after >= logBatch {
		notify(w.full)
	}
	return len(line), nil
}

// Sync does nothing, since lines are written in the background.
func (w *LogWriter) Sync() error { return nil }

// Dropped returns the number of lost lines.
func (w *LogWriter) Dropped() uint64 { return w.dropped.Load() }

// Close writes the waiting lines and ends the goroutine. It gives up after logGrace. Nothing may be
// written afterwards.
func (w *LogWriter) Close() {
	close(w.closing)
	timer := time.NewTimer(logGrace)
	defer timer.Stop()
	select {
	case <-w.closed:
	case <-timer.C:
	}
}

func (w *LogWriter) run() {
	defer close(w.closed)
	var batch []byte
	for w.wait() {
		batch = w.flush(batch)
	}
	w.flush(batch)
}

// wait returns true when lines have waited long enough, and false when the writer is closed.
func (w *LogWriter) wait() bool {
	select {
	case <-w.wake:
	case <-w.closing:
		return false
	}
	timer := time.NewTimer(LogDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.full:
	case <-w.closing:
	}
	return true
}

// flush writes the waiting lines and returns their buffer for the next call. Until then spare
// replaces it.
func (w *LogWriter) flush(spare []byte) []byte {
	w.mu.Lock()
	gather := w.gather
	w.mu.Unlock()
	if gather != nil {
		gather()
	}
	w.mu.Lock()
	batch := w.pending
	w.pending = spare[:0]
	w.mu.Unlock()
	if len(batch) == 0 {
		return batch
	}
	if n, err := w.out.Write(batch); err != nil {
		w.dropped.Add(uint64(bytes.Count(batch[n:], []byte("\n")))) //nolint:gosec // a count
	}
	if cap(batch) > logKept && len(batch) < cap(batch)/8 {
		return nil // a buffer that only a burst needed
	}
	return batch
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
