package server

import (
	"slices"
	"strings"
)

// Reasons for a failed TLS handshake. The set is fixed, whatever a client sends.
const (
	// HandshakeClosed: one side closed the connection, like a client that gives up or a probe of a
	// load balancer.
	HandshakeClosed = "closed"
	// HandshakeReset: the connection broke.
	HandshakeReset = "reset"
	// HandshakeTimeout: the client stopped sending.
	HandshakeTimeout = "timeout"
	// HandshakeCertificateRefused: the client did not accept the served certificate, so its
	// caBundle is wrong.
	HandshakeCertificateRefused = "certificate_refused"
	// HandshakeAlert: the client ended the handshake with an alert that is not about certificates.
	HandshakeAlert = "alert"
	// HandshakeClientCertificate: the client presented no acceptable certificate.
	HandshakeClientCertificate = "client_certificate"
	// HandshakeNotTLS: the client did not speak TLS.
	HandshakeNotTLS = "not_tls"
	// HandshakeProtocol: client and server have no version, cipher or application protocol in
	// common, or the client broke the rules of TLS.
	HandshakeProtocol = "protocol"
	// HandshakeOther: any other reason.
	HandshakeOther = "other"
)

// HandshakeReasons returns all reasons for a failed handshake.
func HandshakeReasons() []string {
	return []string{
		HandshakeClosed, HandshakeReset, HandshakeTimeout, HandshakeCertificateRefused, HandshakeAlert,
		HandshakeClientCertificate, HandshakeNotTLS, HandshakeProtocol, HandshakeOther,
	}
}

// handshakeReason classifies the text of a handshake's error, because most errors of crypto/tls
// have no type. Some texts end with a quotation of the client, so it only looks at beginnings, and
// at ends without quotes.
func handshakeReason(text string) string {
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
	}
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(text, suffix) })
	}
	alert, refused := strings.CutPrefix(text, "remote error: ")
	switch {
	case refused && strings.Contains(alert, "certificate"): // one of the texts in crypto/tls/alert.go
		return HandshakeCertificateRefused
	case refused:
		return HandshakeAlert
	case begins("client certificate ", "tls: client certificate ", "tls: client didn't provide a certificate", "tls: client sent certificate ",
		"tls: failed to verify certificate", "tls: failed to parse client certificate", "tls: invalid signature by the client certificate"):
		return HandshakeClientCertificate
	case begins("client sent an HTTP request", "tls: first record does not look like a TLS handshake", "tls: unsupported SSLv2 handshake"):
		return HandshakeNotTLS
	case begins("tls: ", "local error: tls: ", errHandshakeTooLarge.Error()):
		return HandshakeProtocol
	case ends("EOF", "use of closed network connection"):
		return HandshakeClosed
	case ends("connection reset by peer", "broken pipe"):
		return HandshakeReset
	case ends("i/o timeout", "deadline exceeded"):
		return HandshakeTimeout
	}
	return HandshakeOther
}

// isNoise reports whether a reason is common on every server and says nothing about the
// certificate.
func isNoise(reason string) bool {
	return reason == HandshakeClosed || reason == HandshakeReset || reason == HandshakeTimeout
}
