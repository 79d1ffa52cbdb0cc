package server

import (
	"slices"
	"testing"
)

func TestHandshakeReasons(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, want string
		quiet      bool
	}{
		"client hangs up":            {"EOF", HandshakeClosed, true},
		"client hangs up in between": {"unexpected EOF", HandshakeClosed, true},
		"server ends": {
			"read tcp 10.0.0.2:9443->10.0.0.1:4711: use of closed network connection", HandshakeClosed, true,
		},
		"client resets": {
			"read tcp 10.0.0.2:9443->10.0.0.1:4711: read: connection reset by peer", HandshakeReset, true,
		},
		"client is gone when it is written to": {
			"write tcp 10.0.0.2:9443->10.0.0.1:4711: write: broken pipe", HandshakeReset, true,
		},
		"client stalls":             {"read tcp 10.0.0.2:9443->10.0.0.1:4711: i/o timeout", HandshakeTimeout, true},
		"wrong caBundle":            {"remote error: tls: bad certificate", HandshakeCertificateRefused, false},
		"wrong caBundle of others":  {"remote error: tls: unknown certificate authority", HandshakeCertificateRefused, false},
		"expired certificate":       {"remote error: tls: expired certificate", HandshakeCertificateRefused, false},
		"another alert":             {"remote error: tls: protocol version not supported", HandshakeAlert, false},
		"unknown alert":             {"remote error: tls: alert(255)", HandshakeAlert, false},
		"no client certificate":     {"tls: client didn't provide a certificate", HandshakeClientCertificate, false},
		"unknown client":            {"tls: failed to verify certificate: x509: certificate signed by unknown authority", HandshakeClientCertificate, false},
		"client with another name":  {"client certificate has none of the allowed names", HandshakeClientCertificate, false},
		"HTTP":                      {"client sent an HTTP request to an HTTPS server", HandshakeNotTLS, false},
		"another protocol":          {"tls: first record does not look like a TLS handshake", HandshakeNotTLS, false},
		"old TLS":                   {"tls: client offered only unsupported versions: [303]", HandshakeProtocol, false},
		"another ALPN":              {`tls: client requested unsupported application protocols (["h2"])`, HandshakeProtocol, false},
		"ALPN that claims an end":   {`tls: client requested unsupported application protocols (["a: EOF"])`, HandshakeProtocol, false},
		"ALPN that claims an alert": {`tls: client requested unsupported application protocols (["remote error: tls: bad certificate"])`, HandshakeProtocol, false},
		"too much":                  {"client sent more than 16 KiB in its handshake", HandshakeProtocol, false},
		"own alert":                 {"local error: tls: bad record MAC", HandshakeProtocol, false},
		"what is not known":         {"something else", HandshakeOther, false},
		"nothing":                   {"", HandshakeOther, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := handshakeReason(tt.text)
			if got != tt.want || isNoise(got) != tt.quiet {
				t.Errorf("reason %s, quiet %t, want %s, %t", got, isNoise(got), tt.want, tt.quiet)
			}
			if !slices.Contains(HandshakeReasons(), got) {
				t.Errorf("%s is none of the reasons", got)
			}
		})
	}
}
