package transform_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

func TestNotationsOfOneValue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`"90s"`, `"1m30s"`, true},
		{`"1d"`, `"24h"`, true},
		{`"1Ki"`, `"1024"`, true},
		{`"{\"a\":1}"`, `"{ \"a\": 1 }"`, true},
		{`"90s"`, `"91s"`, false},
		{`"ImageReady"`, `"ProviderReady"`, false},
		{`"a: 1 # why"`, `"a: 1"`, false},
		{`"1"`, `1`, true},
		{`"1.10"`, `"1.1"`, false},
		{`""`, `"0s"`, false},
		{`{"a":1}`, `{"a":1}`, false},
	} {
		if got := transform.SameValue([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s, %s: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
