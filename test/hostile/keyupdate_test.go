package hostile_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"io"
	"testing"
)

// keyUpdateFlood: a client that changes its keys over and over (RFC 8446, section 4.6.3) is cut
// off, and others are served.
func keyUpdateFlood(t *testing.T, e *tlsServer) {
	t.Helper()
	const messages = 100_000
	config := &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519}}
	secret := newSecrets(config)
	c, err := e.dialTLS(t, config)
	if err != nil {
		t.Fatal(err)
	}
	if suite := c.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		t.Fatalf("the test speaks TLS_AES_128_GCM_SHA256, not %s", tls.CipherSuiteName(suite))
	}
	text, err := secret()
	if err != nil {
		t.Fatal(err)
	}
	keys := keySchedule{t: t}
	if keys.secret, err = hex.DecodeString(text); err != nil {
		t.Fatal(err)
	}
	raw, sent := c.NetConn(), 0
	go func() { _, _ = io.Copy(io.Discard, raw) }() // the server's own key updates
	for ; sent < messages; sent++ {
		if _, err := raw.Write(keys.update()); err != nil {
			break
		}
	}
	if sent == messages {
		t.Error("all key updates were taken")
	}
	got, _, err := e.ask(t, &tls.Config{})
	if err != nil || got.code != 200 {
		t.Errorf("the next client: code %d, %v", got.code, err)
	}
}

// A keySchedule makes records of a client, each under keys of its own.
type keySchedule struct {
	t      *testing.T
	secret []byte
}

// update returns the record of a KeyUpdate that asks for one, and goes on to the next keys.
func (k *keySchedule) update() []byte {
	k.t.Helper()
	block, err := aes.NewCipher(k.expand("key", 16))
	if err != nil {
		k.t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		k.t.Fatal(err)
	}
	message := []byte{24, 0, 0, 1, 1, 22} // key_update, its length, update_requested; a handshake record
	header := []byte{23, 3, 3, 0, byte(len(message) + aead.Overhead())}
	record := aead.Seal(header, k.expand("iv", 12), message, header) // the first record under its keys
	k.secret = k.expand("traffic upd", sha256.Size)
	return record
}

// expand is HKDF-Expand-Label without a context (RFC 8446, section 7.1).
func (k *keySchedule) expand(label string, size int) []byte {
	k.t.Helper()
	label = "tls13 " + label
	info := append([]byte{0, byte(size), byte(len(label))}, label...)
	key, err := hkdf.Expand(sha256.New, k.secret, string(append(info, 0)), size)
	if err != nil {
		k.t.Fatal(err)
	}
	return key
}
