package reviewtest_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

func TestBody(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		objects, size int
		low, high     int
		managed       bool
	}{
		{"one small object", 1, 400, 600, 900, false},
		{"five hundred with managedFields", 500, 4300, 500 * 4100, 500 * 4500, true},
		{"one of 1 MB", 1, 1 << 20, 1<<20 - 4096, 1<<20 + 4096, true},
		{"none", 0, 0, 200, 400, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body := reviewtest.Body(test.objects, test.size)
			if len(body) < test.low || len(body) > test.high {
				t.Errorf("body has %d bytes, want %d to %d", len(body), test.low, test.high)
			}
			if !json.Valid(body) {
				t.Error("body is not JSON")
			}
			if !bytes.HasPrefix(body, []byte(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"`)) ||
				!bytes.HasSuffix(body, []byte("\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":{\"metadata\":{}}}}\n")) {
				t.Errorf("body does not look like kube-apiserver's: %.120s", body)
			}
			if got := bytes.Count(body, []byte(`"kind":"CronTab","metadata"`)); got != test.objects {
				t.Errorf("body has %d objects, want %d", got, test.objects)
			}
			if got := bytes.Contains(body, []byte(`"managedFields":[`)); got != test.managed {
				t.Errorf("managedFields: %v, want %v", got, test.managed)
			}
			if !bytes.Equal(body, reviewtest.Body(test.objects, test.size)) {
				t.Error("the same arguments gave other bytes")
			}
		})
	}
}
