package rules_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bigMap is a pair of versions with a map of durations, which are seconds at the hub.
func bigMap() pair {
	return pair{
		beta: "{spec: {timeouts: {'*': string}}}", v1: "{spec: {timeouts: {'*': integer}}}",
		rules: `- {spoke: ".spec.timeouts{}", hub: ".spec.timeouts{}", codec: DurationSeconds}`,
	}
}

// bigMapOf returns an object of v1beta1 with n entries of one value. Their keys are short, so that
// the kept values of 20,000 entries fit into 256 KiB.
func bigMapOf(entries int, value string) string {
	var b strings.Builder
	for i := range entries {
		fmt.Fprintf(&b, `,%q:%q`, strconv.FormatInt(int64(i), 36), value)
	}
	return head("v1beta1", `,"spec":{"timeouts":{`+b.String()[1:]+"}}")
}

// The edited entry has the new value, and all others come back as they were.
func TestBigMap(t *testing.T) {
	t.Parallel()
	kind := bigMap().kind(t)
	for _, value := range []string{"0s", "0"} {
		there := bigMapOf(1000, value)
		edited := strings.Replace(convert(t, kind, there, "v1beta1", "v1"), `"1":0,`, `"1":7,`, 1)
		back := convert(t, kind, edited, "v1", "v1beta1")
		want := strings.Replace(there, fmt.Sprintf(`"1":%q,`, value), `"1":"7s",`, 1)
		if diff := cmp.Diff(decodedJSON(t, want), decodedJSON(t, back)); diff != "" {
			t.Errorf("%s:\n%s", value, diff)
		}
	}
}
