package listen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

// Hooks report what fails. Neither may be nil.
type Hooks struct {
	// HandshakeFailed reports a failed TLS handshake: the reason, one of [HandshakeReasons], and
	// the client's address with the error.
	HandshakeFailed func(reason, text string)
	// AcceptFailed reports that there is no file descriptor for a connection.
	AcceptFailed func(err error)
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

// longestText is how many characters of an error are reported: it may quote the client.
const longestText = 512

// handshakeFailed reports the failed handshake of a client.
func (h *Hooks) handshakeFailed(client net.Addr, err error) {
	h.HandshakeFailed(handshakeReason(err), fmt.Sprintf("%s: %.*s", client, longestText, err.Error()))
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
