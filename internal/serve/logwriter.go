package serve

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// LogDelay is how long a line may wait for others to be written together with it.
	LogDelay = 50 * time.Millisecond
	// logBatch is how many bytes wait no longer: they still fit the processor's cache.
	logBatch = 32 << 10
	// logPending bounds the lines that wait, in bytes. What comes while they are that many is dropped.
	logPending = 1 << 20
	// logKept is how large a buffer may be that is kept though it is not needed.
	logKept = 64 << 10
	// logGrace is how long the end of the program waits for the last lines to be taken.
	logGrace = time.Second
)

// A LogWriter writes lines to a stream in the background, so that a request never waits for whoever
// reads the log. Lines are gathered for logDelay, which also spares a system call for each; when
// nothing is logged nothing wakes up. Lines beyond logPending are dropped and counted, each as a
// whole. It implements zapcore.WriteSyncer and is safe for concurrent use.
type LogWriter struct {
	out     io.Writer
	wake    chan struct{} // a line waits
	full    chan struct{} // so many wait that they should be written now
	closing chan struct{}
	closed  chan struct{} // all is written
	dropped atomic.Uint64

	mu      sync.Mutex
	pending []byte
	gather  func() // writes more lines; nil: there are none
}

// NewLogWriter starts the goroutine that writes to out. It ends with close.
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

// gatherFrom has f called on the writing goroutine before each write, to write lines that were not worth a request's time.
func (w *LogWriter) gatherFrom(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gather = f
}

// Write takes one line. It never fails and never waits.
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

// Sync does nothing: a line is on its way.
func (w *LogWriter) Sync() error { return nil }

// Dropped returns how many lines were lost.
func (w *LogWriter) Dropped() uint64 { return w.dropped.Load() }

// Close writes what waits and ends the goroutine, but gives up when nobody takes it for logGrace.
// Nothing may be written after it.
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

// wait returns true when lines have waited long enough, and false when the writer was closed.
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

// flush writes what waits and returns the buffer for the next time; spare takes its place meanwhile.
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
		return nil // what a burst needed is not kept when it is over
	}
	return batch
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
