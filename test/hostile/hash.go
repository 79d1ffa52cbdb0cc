package hostile

import (
	"crypto/sha256"
	"encoding/hex"
)

// hashed is what the log has in the place of a uid that is not like one.
func hashed(uid string) string {
	sum := sha256.Sum256([]byte(uid))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// LoggedUID returns what the log has of a uid: letters, digits and hyphens, 64 at most, or a hash.
func LoggedUID(uid string) string {
	plain := len(uid) <= 64
	for _, c := range []byte(uid) {
		plain = plain && (c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if plain {
		return uid
	}
	return hashed(uid)
}
