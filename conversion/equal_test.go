package conversion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameObject compares objects as JSON, with the text of number literals. Empty metadata is like
// none.
func sameObject(t *testing.T, a, b string) bool {
	t.Helper()
	return cmp.Equal(decodeLiteral(t, a), decodeLiteral(t, b))
}

func decodeLiteral(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if meta, ok := v["metadata"].(map[string]any); ok && len(meta) == 0 {
		delete(v, "metadata")
	}
	return v
}
