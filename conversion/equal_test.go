package conversion_test

import (
	"reflect"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// sameObject compares objects as JSON, with the text of number literals. Empty metadata is like
// none.
func sameObject(t *testing.T, a, b string) bool {
	t.Helper()
	return reflect.DeepEqual(decodeLiteral(t, a), decodeLiteral(t, b))
}

func decodeLiteral(t *testing.T, text string) any {
	t.Helper()
	v, err := jsondoc.Decode([]byte(text), true)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	object, _ := v.(map[string]any)
	if meta, ok := object["metadata"].(map[string]any); ok && len(meta) == 0 {
		delete(object, "metadata")
	}
	return v
}
