package rules_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
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

// withOneEdit returns an object of the hub in which one entry has another value.
func withOneEdit(tb testing.TB, hub string) string {
	tb.Helper()
	text := strings.Replace(hub, `"1":0,`, `"1":7,`, 1)
	if text == hub {
		tb.Fatalf("nothing to edit: %.300s", hub)
	}
	return text
}

// The edited entry has the new value, and all others come back as they were.
func TestBigMap(t *testing.T) {
	t.Parallel()
	kind := bigMap().kind(t)
	for _, value := range []string{"0s", "0"} {
		there := bigMapOf(1000, value)
		hub := convert(t, kind, there, "v1beta1", "v1")
		back := convert(t, kind, withOneEdit(t, hub), "v1", "v1beta1")
		want := strings.Replace(there, fmt.Sprintf(`"1":%q,`, value), `"1":"7s",`, 1)
		if diff := cmp.Diff(decodedJSON(t, want), decodedJSON(t, back)); diff != "" {
			t.Errorf("%s:\n%s", value, diff)
		}
	}
}

// BenchmarkBigMap converts a map with a rule for each of its values. Either nothing has to be kept,
// or every entry: 0 is a duration, whose canonical form is 0s. toHub converts to the hub, back
// converts the result after one entry was edited there. Time and memory for an entry do not depend
// on the number of entries if all is linear.
//
// The kept values of the larger maps do not fit into annotations. Such a conversion fails (fails is
// 1), which must take no longer.
func BenchmarkBigMap(b *testing.B) {
	kind := bigMap().kind(b)
	for _, kept := range []struct{ name, value string }{{"none", "0s"}, {"all", "0"}} {
		for _, entries := range []int{5000, 10000, 20000, 40000} {
			name := fmt.Sprintf("%s/%d", kept.name, entries)
			there := bigMapOf(entries, kept.value)
			b.Run(name+"/toHub", func(b *testing.B) { benchmarkEntries(b, kind, there, "v1beta1", "v1", entries) })
			b.Run(name+"/back", func(b *testing.B) {
				hub, err := tryConvert(b, kind, there, "v1beta1", "v1")
				if err != nil {
					b.ReportMetric(0, "ns/op") // nothing that could be converted back
					return
				}
				benchmarkEntries(b, kind, withOneEdit(b, hub), "v1", "v1beta1", entries)
			})
		}
	}
}

// BenchmarkBigUnit converts a map that is one unit with a long text and a long list, because one
// rule reads them all. The base of each kept entry covers both.
func BenchmarkBigUnit(b *testing.B) {
	kind := pair{
		beta: "{spec: {t: string, l: [{name: string, v: string}, name], m: {'*': string}}}", v1: "{spec: {h: string}}",
		rules: `- {spoke: {t: .spec.t, v: '.spec.l[name=last].v', m: .spec.m}, hub: .spec.h, ` +
			`toHub: 'self.t', toSpoke: '{"t": self}'}`,
	}.kind(b)
	for _, entries := range []int{500, 1000, 2000, 4000, 8000} {
		var m, l strings.Builder
		for i := range entries {
			fmt.Fprintf(&m, `,"k%d":"v"`, i)
			fmt.Fprintf(&l, `{"name":"n%d"},`, i)
		}
		there := head("v1beta1", fmt.Sprintf(`,"spec":{"t":%q,"l":[%s{"name":"last","v":"x"}],"m":{%s}}`,
			strings.Repeat("x", 100*entries), l.String(), m.String()[1:]))
		b.Run(fmt.Sprint(entries), func(b *testing.B) { benchmarkEntries(b, kind, there, "v1beta1", "v1", entries) })
	}
}

// benchmarkEntries measures a conversion that may fail.
func benchmarkEntries(b *testing.B, kind *converters.Kind, text, from, to string, entries int) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	fails := 0
	for b.Loop() {
		if _, err := tryConvert(b, kind, text, from, to); err != nil {
			fails = 1
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*entries), "ns/entry")
	b.ReportMetric(float64(fails), "fails")
}

// tryConvert converts an object, which may fail.
func tryConvert(tb testing.TB, kind *converters.Kind, object, from, to string) (string, error) {
	tb.Helper()
	obj, err := jsondoc.ParseObject([]byte(object))
	if err != nil {
		tb.Fatal(err)
	}
	if err := kind.Convert(tb.Context(), obj, from, to); err != nil {
		return "", err
	}
	return string(obj.Text()), nil
}
