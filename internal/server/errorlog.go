package server

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An errorLog passes on what net/http logs. Failed handshakes are told to a hook. They are logged at most once a minute for
// each reason, and not at all where the client only went away. Other lines that clients can bring about come at most once a
// second, and failed accepts always, for net/http itself waits between them.
type errorLog struct {
	next   *log.Logger // nil: dropped
	failed func(reason, text string)
	now    func() time.Time
	// own is the address that the self check last dialled from. Where clients need a certificate
	// it has none, and its failure says nothing.
	own atomic.Pointer[string]

	mu    sync.Mutex
	quiet map[string]*silence // by the reason of a failed handshake; empty: of all other lines
}

// A silence is the time in which lines of one kind are counted only.
type silence struct {
	until      time.Time
	suppressed int
}

const (
	logInterval       = time.Second
	handshakeInterval = time.Minute
)

func newErrorLog(next *log.Logger, hooks *Hooks) *errorLog {
	return &errorLog{next: next, failed: hooks.handshakeFailed, now: time.Now, quiet: map[string]*silence{}}
}

// logger returns what http.Server.ErrorLog is to be.
func (l *errorLog) logger() *log.Logger { return log.New(l, "", 0) }

// Write takes one line from a log.Logger.
func (l *errorLog) Write(line []byte) (int, error) {
	if l.isOwn(line) {
		return len(line), nil
	}
	text := string(bytes.TrimRight(line, "\n"))
	reason, interval := "", logInterval
	if failure, is := handshakeError(text); is {
		reason, interval = handshakeReason(failure), handshakeInterval
		l.failed(reason, text)
		if isNoise(reason) {
			return len(line), nil
		}
	}
	if strings.HasPrefix(text, "http: Accept error") {
		l.print(text)
		return len(line), nil
	}
	if suppressed, ok := l.take(reason, interval); ok {
		if suppressed > 0 {
			text = fmt.Sprintf("%s (%d lines suppressed before this)", text, suppressed)
		}
		l.print(text)
	}
	return len(line), nil
}

func (l *errorLog) print(text string) {
	if l.next != nil {
		l.next.Print(text)
	}
}

// take reports whether a line of a kind may be logged now, and how many were not since the last one.
func (l *errorLog) take(kind string, interval time.Duration) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	s := l.quiet[kind]
	if s == nil {
		s = &silence{}
		l.quiet[kind] = s
	}
	if now.Before(s.until) {
		s.suppressed++
		return 0, false
	}
	s.until = now.Add(interval)
	suppressed, s.suppressed = s.suppressed, 0
	return suppressed, true
}

func (l *errorLog) isOwn(line []byte) bool {
	own := l.own.Load()
	return own != nil && bytes.HasPrefix(line, []byte(handshakePrefix+*own+":"))
}
