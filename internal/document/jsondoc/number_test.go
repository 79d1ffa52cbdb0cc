package jsondoc_test

import (
	"encoding/json"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

func TestCanonicalNumberIsWhatTheAPIServerStores(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "1", "-1", "1.0", "0.50", "1e3", "1E+3", "1e-7", "0.000001", "1e21", "1e20", "123456789012345678901234567890", "-0", "0e9",
		"9007199254740993", "9007199254740993.0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "4611686018427387904.0",
		"1e308", "5e-324", "1e-999999999", "0.1000000000000000055511151231257827",
	} {
		var read []any
		if err := utiljson.Unmarshal([]byte("["+text+"]"), &read); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(read[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsondoc.CanonicalNumber(text)
		if err != nil || got != string(want) {
			t.Errorf("%s: got %s (%v), want %s", text, got, err, want)
		}
		if again, err := jsondoc.CanonicalNumber(got); err != nil || again != got {
			t.Errorf("%s: %s, then %s (%v)", text, got, again, err)
		}
	}
}

func TestCanonicalNumberFailsBeyondAFloat64(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1e309", "-1e999999999", "1" + strings.Repeat("0", 400), "1e" + strings.Repeat("9", 100_000)} {
		if got, err := jsondoc.CanonicalNumber(text); err == nil {
			t.Errorf("%.20s: got %s", text, got)
		}
	}
}
