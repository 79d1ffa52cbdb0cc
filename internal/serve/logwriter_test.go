package serve

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A pipe is a stream that can be blocked.
type pipe struct {
	mu     sync.Mutex
	writes []string
	open   chan struct{}
	err    error
}

func newPipe() *pipe {
	p := &pipe{open: make(chan struct{})}
	close(p.open)
	return p
}

func blockedPipe() *pipe { return &pipe{open: make(chan struct{})} }

func (p *pipe) Write(text []byte) (int, error) {
	<-p.open
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	p.writes = append(p.writes, string(text))
	return len(text), nil
}

func (p *pipe) written() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

func writeLine(t *testing.T, w *LogWriter, line string) {
	t.Helper()
	if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
		t.Fatalf("Write returned %d, %v", n, err)
	}
}

// advance lets d pass in a bubble.
func advance(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of a bubble
	synctest.Wait()
}

func TestCloseWritesWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newPipe()
		w := NewLogWriter(out)
		writeLine(t, w, "a\n")
		start := time.Now()
		w.Close()
		if diff := cmp.Diff([]string{"a\n"}, out.written()); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("close took %s, it need not wait for more lines", took)
		}
	})
}

// R9: the log is not read.
func TestABlockedStreamDoesNotHoldUpWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := blockedPipe()
		w := NewLogWriter(out)
		start := time.Now()
		line := strings.Repeat("x", 999) + "\n"
		writeLine(t, w, line)
		synctest.Wait() // it is stuck in Write from now on
		const lines = 3 * logPending / 1000
		for range lines {
			writeLine(t, w, line)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("writing took %s", took)
		}
		const kept = logPending / 1000
		if got := w.Dropped(); got != lines-kept {
			t.Errorf("%d lines dropped, want %d", got, lines-kept)
		}

		close(out.open)
		synctest.Wait()
		var all bytes.Buffer
		for _, text := range out.written() {
			all.WriteString(text)
		}
		if got := strings.Count(all.String(), line); got != kept+1 || all.Len() != (kept+1)*len(line) {
			t.Errorf("%d whole lines in %d bytes, want %d", got, all.Len(), kept+1)
		}
		writeLine(t, w, "after\n")
		w.Close()
		if last := out.written()[len(out.written())-1]; last != "after\n" {
			t.Errorf("the last line is %q", last)
		}
	})
}

func TestCloseGivesUpOnABlockedStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := blockedPipe()
		w := NewLogWriter(out)
		writeLine(t, w, "a\n")
		start := time.Now()
		w.Close()
		if took := time.Since(start); took != logGrace {
			t.Errorf("close took %s, want %s", took, logGrace)
		}
		close(out.open) // lets the goroutine end
	})
}

func TestFailedWritesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newPipe()
		out.err = errors.New("no space left on device")
		w := NewLogWriter(out)
		writeLine(t, w, "a\n")
		writeLine(t, w, "b\n")
		w.Close()
		if got := w.Dropped(); got != 2 {
			t.Errorf("%d lines dropped, want 2", got)
		}
	})
}

func TestConcurrentLinesStayWhole(t *testing.T) {
	t.Parallel()
	out := newPipe()
	w := NewLogWriter(out)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				writeLine(t, w, "0123456789\n")
			}
		})
	}
	wg.Wait()
	w.Close()
	if got := strings.Join(out.written(), ""); got != strings.Repeat("0123456789\n", 1600) {
		t.Errorf("%d bytes, not 1600 whole lines", len(got))
	}
}
