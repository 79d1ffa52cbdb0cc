package listen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"
)

// An ErrorLog filters the log of net/http. It reports failed handshakes to a hook, and logs them at
// most once a minute for each reason, or not at all if the client only went away. It logs failed
// accepts, and other lines that clients can cause, at most once a second each.
type ErrorLog struct {
	next   *log.Logger // nil: dropped
	failed func(reason, text string)
	now    func() time.Time

	mu    sync.Mutex
	quiet map[string]*silence // by reason of a failed handshake, or "accept"; empty: all other lines
}

// A silence is a time in which lines of one kind are counted but not logged.
type silence struct {
	until      time.Time
	suppressed int
}

// Reasons for a failed TLS handshake.
const (
	// HandshakeClosed: the connection ended or broke, or the client stopped sending.
	HandshakeClosed = "closed"
	// HandshakeRefusedByClient: the client sent an alert. Most often its caBundle does not trust
	// the served certificate.
	HandshakeRefusedByClient = "refused_by_client"
	// HandshakeRefusedByServer: the client does not speak TLS, has no version, cipher or
	// application protocol in common with the server, or no certificate that the server accepts.
	HandshakeRefusedByServer = "refused_by_server"
)

// HandshakeReasons returns the reasons of failed handshakes.
func HandshakeReasons() []string {
	return []string{HandshakeClosed, HandshakeRefusedByClient, HandshakeRefusedByServer}
}

const (
	logInterval       = time.Second
	handshakeInterval = time.Minute
)

// NewErrorLog returns an ErrorLog that prints to next, unless that is nil, and calls failed for
// each failed handshake: with the reason, one of [HandshakeReasons], and the text, which may be
// long and quote the client.
func NewErrorLog(next *log.Logger, failed func(reason, text string)) *ErrorLog {
	return &ErrorLog{next: next, failed: failed, now: time.Now, quiet: map[string]*silence{}}
}

// Logger returns the value for http.Server.ErrorLog.
func (l *ErrorLog) Logger() *log.Logger { return log.New(l, "", 0) }

// Write handles one line of a log.Logger.
func (l *ErrorLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimRight(line, "\n"))
	l.printRarely("", logInterval, text)
	return len(line), nil
}

// acceptFailed logs that a connection could not be accepted.
func (l *ErrorLog) acceptFailed(err error) {
	l.printRarely("accept", logInterval, fmt.Sprintf("http: Accept error: %v", err))
}

// handshakeFailed reports and logs a failed handshake.
func (l *ErrorLog) handshakeFailed(client net.Addr, err error) {
	reason, text := handshakeReason(err), fmt.Sprintf("TLS handshake error from %s: %v", client, err)
	l.failed(reason, text)
	if reason != HandshakeClosed {
		l.printRarely(reason, handshakeInterval, text)
	}
}

// handshakeReason returns why a handshake failed.
func handshakeReason(err error) string {
	var op *net.OpError // crypto/tls has two operations of its own: remote error and local error
	isOp := errors.As(err, &op)
	switch {
	case isOp && op.Op == "remote error":
		return HandshakeRefusedByClient
	case isOp && op.Op != "local error", errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return HandshakeClosed
	}
	return HandshakeRefusedByServer
}

// printRarely prints a text of a kind at most once per interval, with the number of suppressed
// lines.
func (l *ErrorLog) printRarely(kind string, interval time.Duration, text string) {
	suppressed, ok := l.take(kind, interval)
	if !ok {
		return
	}
	if suppressed > 0 {
		text = fmt.Sprintf("%s (%d lines suppressed before this)", text, suppressed)
	}
	if l.next != nil {
		l.next.Print(text)
	}
}

// take reports whether a line of a kind may be logged now, and how many lines were suppressed
// before it.
func (l *ErrorLog) take(kind string, interval time.Duration) (suppressed int, ok bool) {
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
