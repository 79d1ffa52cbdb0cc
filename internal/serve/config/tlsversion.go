package config

import (
	"crypto/tls"
	"errors"
	"strings"
)

// TLSVersion is a protocol version as crypto/tls numbers it, with the text form 1.2 or 1.3.
type TLSVersion uint16

// The versions that the key tls-min-version takes. RFC 8996 withdraws older ones.
const (
	TLS12 TLSVersion = tls.VersionTLS12
	TLS13 TLSVersion = tls.VersionTLS13
)

// String returns the text form.
func (v TLSVersion) String() string { return strings.TrimPrefix(tls.VersionName(uint16(v)), "TLS ") }

// UnmarshalText reads the text form; any text but 1.2 and 1.3 is an error.
func (v *TLSVersion) UnmarshalText(text []byte) error {
	for _, known := range []TLSVersion{TLS12, TLS13} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return errors.New("not a TLS version")
}
