package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

// TestHandshakeReasons checks what is reported of failed handshakes: how much a client can have of
// it is bounded.
func TestHandshakeReasons(t *testing.T) {
	t.Parallel()
	client := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.1:1"))
	for err, want := range map[error]string{
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}: HandshakeClosed,
		io.EOF:                   HandshakeClosed,
		io.ErrUnexpectedEOF:      HandshakeClosed,
		context.DeadlineExceeded: HandshakeClosed,
		context.Canceled:         HandshakeClosed,
		&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}: HandshakeRefusedByClient,
		&net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}:   HandshakeRefusedByServer,
		&tls.RecordHeaderError{Msg: "first record does not look like TLS"}:        HandshakeRefusedByServer,
		errors.New("tls: client requested " + strings.Repeat("long", 10_000)):     HandshakeRefusedByServer,
	} {
		var reason, text string
		hooks := Hooks{HandshakeFailed: func(r, t string) { reason, text = r, t }}
		hooks.handshakeFailed(client, err)
		short := strings.TrimPrefix(text, "10.0.0.1:1: ")
		if reason != want || len(short) != min(len(err.Error()), longestText) || !strings.HasPrefix(err.Error(), short) {
			t.Errorf("%.80v: %s, %q", err, reason, text)
		}
	}
}
