package hostile

import (
	"crypto/sha256"
	"encoding/hex"
)

// hashed is what the log has in the place of a uid that is not like one, of the text between its
// quotes.
func hashed(uid string) string {
	sum := sha256.Sum256([]byte(uid))
	return "sha256:" + hex.EncodeToString(sum[:8])
}
