package server

import (
	"bytes"
	"fmt"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// An errorLog passes on what net/http logs. What clients can bring about (failed handshakes, mostly)
// comes at most once a second; failed accepts always, for net/http itself waits between them.
type errorLog struct {
	next *log.Logger // nil: dropped
	now  func() time.Time
	// own is the address that the self check last dialled from. Where clients need a certificate
	// it has none, and its failure says nothing.
	own atomic.Pointer[string]

	mu         sync.Mutex
	quietUntil time.Time
	suppressed int
}

const logInterval = time.Second

func newErrorLog(next *log.Logger) *errorLog { return &errorLog{next: next, now: time.Now} }

// logger returns what http.Server.ErrorLog is to be.
func (l *errorLog) logger() *log.Logger { return log.New(l, "", 0) }

// Write takes one line from a log.Logger.
func (l *errorLog) Write(line []byte) (int, error) {
	if l.next == nil || l.isOwn(line) {
		return len(line), nil
	}
	text := bytes.TrimRight(line, "\n")
	if bytes.HasPrefix(line, []byte("http: Accept error")) {
		l.next.Printf("%s", text)
		return len(line), nil
	}
	if suppressed, ok := l.take(); ok {
		if suppressed > 0 {
			text = fmt.Appendf(text, " (%d lines suppressed before this)", suppressed)
		}
		l.next.Printf("%s", text)
	}
	return len(line), nil
}

// take reports whether a line may be logged now, and how many were not since the last one.
func (l *errorLog) take() (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if now.Before(l.quietUntil) {
		l.suppressed++
		return 0, false
	}
	l.quietUntil = now.Add(logInterval)
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}

// handshakeFailed takes a failed handshake.
func (l *errorLog) handshakeFailed(client net.Addr, err error) {
	l.logger().Printf("http: TLS handshake error from %s: %v", client, err)
}

func (l *errorLog) isOwn(line []byte) bool {
	own := l.own.Load()
	return own != nil && bytes.HasPrefix(line, []byte("http: TLS handshake error from "+*own+":"))
}
