package serve

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// logPending bounds the waiting lines, in bytes. Lines beyond it are dropped.
	logPending = 1 << 20
	// logGrace is how long Close waits for the last lines to be written.
	logGrace = time.Second
)

// A LogWriter writes lines to a stream in the background, so that a request never waits for the
// reader of the log, as it would with zap's buffered writer. Whole lines beyond logPending are
// dropped and counted. It implements zapcore.WriteSyncer and is safe for concurrent use.
type LogWriter struct {
	out     io.Writer
	wake    chan struct{} // lines are waiting
	closing chan struct{}
	closed  chan struct{} // everything is written
	dropped atomic.Uint64

	mu      sync.Mutex
	pending []byte
}

// NewLogWriter starts the goroutine that writes to out. Close ends it.
func NewLogWriter(out io.Writer) *LogWriter {
	w := &LogWriter{out: out, wake: make(chan struct{}, 1), closing: make(chan struct{}), closed: make(chan struct{})}
	go w.run()
	return w
}

// Write takes one line. It never fails and never blocks.
func (w *LogWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending)+len(line) > logPending {
		w.dropped.Add(1)
		return len(line), nil
	}
	w.pending = append(w.pending, line...)
	select {
	case w.wake <- struct{}{}:
	default:
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

// run writes what waits, together.
func (w *LogWriter) run() {
	defer close(w.closed)
	var batch []byte
	for open := true; open; {
		select {
		case <-w.wake:
		case <-w.closing:
			open = false
		}
		w.mu.Lock()
		batch, w.pending = w.pending, batch[:0]
		w.mu.Unlock()
		if len(batch) == 0 {
			continue
		}
		if n, err := w.out.Write(batch); err != nil {
			w.dropped.Add(uint64(bytes.Count(batch[n:], []byte("\n")))) //nolint:gosec // a count
		}
	}
}
