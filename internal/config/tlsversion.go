package config

import (
	"crypto/tls"
	"fmt"
)

// TLSVersion is a protocol version as crypto/tls numbers it, with the text form 1.2 or 1.3.
type TLSVersion uint16

// The versions that the key tls-min-version takes. Older ones are withdrawn by RFC 8996.
const (
	TLS12 TLSVersion = tls.VersionTLS12
	TLS13 TLSVersion = tls.VersionTLS13
)

// ParseTLSVersion reads the text form; anything but 1.2 and 1.3 is an error.
func ParseTLSVersion(text string) (TLSVersion, error) {
	for _, v := range []TLSVersion{TLS13, TLS12} {
		if text == v.String() {
			return v, nil
		}
	}
	return 0, fmt.Errorf("not a TLS version: write %s or %s", TLS13, TLS12)
}

// String returns the text form.
func (v TLSVersion) String() string {
	switch v {
	case TLS12:
		return "1.2"
	case TLS13:
		return "1.3"
	}
	return fmt.Sprintf("0x%04x", uint16(v))
}
