package server

import (
	"slices"
	"strings"
)

// Reasons why a TLS handshake failed. There are no others, whatever a client sends.
const (
	// HandshakeClosed says that one side closed the connection, as a client that gives up does, or a probe of a load balancer.
	HandshakeClosed = "closed"
	// HandshakeReset says that the connection broke.
	HandshakeReset = "reset"
	// HandshakeTimeout says that the client did not go on.
	HandshakeTimeout = "timeout"
	// HandshakeCertificateRefused says that the client did not accept the certificate that is served: its caBundle is wrong.
	HandshakeCertificateRefused = "certificate_refused"
	// HandshakeAlert says that the client ended the handshake with an alert that is not about certificates.
	HandshakeAlert = "alert"
	// HandshakeClientCertificate says that a client presented no certificate that is accepted.
	HandshakeClientCertificate = "client_certificate"
	// HandshakeNotTLS says that the client did not speak TLS.
	HandshakeNotTLS = "not_tls"
	// HandshakeProtocol says that client and server have no version, cipher or application protocol in common, or that the
	// client broke the rules of TLS.
	HandshakeProtocol = "protocol"
	// HandshakeOther says that it was something else.
	HandshakeOther = "other"
)

// HandshakeReasons returns all reasons why a handshake can fail.
func HandshakeReasons() []string {
	return []string{
		HandshakeClosed, HandshakeReset, HandshakeTimeout, HandshakeCertificateRefused, HandshakeAlert,
		HandshakeClientCertificate, HandshakeNotTLS, HandshakeProtocol, HandshakeOther,
	}
}

// handshakeReason classifies the text of a handshake's error, for most of those of crypto/tls have nothing else. Some quote the client
// at their end: only their beginnings, and ends without quotes, are looked at.
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

// isNoise is true of reasons that every server meets, and that say nothing about its certificate.
func isNoise(reason string) bool {
	return reason == HandshakeClosed || reason == HandshakeReset || reason == HandshakeTimeout
}
