package rules_test

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// turn is how often the conversion and the identity of an object are measured before the other, so
// that a noisy machine disturbs both alike.
const turn = 50

// What an object may cost, over identity: for each evaluation of an expression, and for each kept
// value that is written or read.
const (
	identityBudget   = 3
	expressionBudget = 1200 * time.Nanosecond
	keptBudget       = 1500 * time.Nanosecond
	expressionAllocs = 12
	keptAllocs       = 8
)

// BenchmarkKinds converts the objects of testdata/kinds to the hub, from it, and from the hub to
// the hub. The last, identity, reads and writes the text as the server does and changes nothing.
//
// x-identity is how many times longer a conversion takes than the identity of its text, as the
// median of all turns. For a kind and for all kinds, it is the median of the conversions.
// x-budget is the time over what it may take, with so many expressions and kept values, and
// allocs-budget is the number of allocations that it may make.
func BenchmarkKinds(b *testing.B) {
	var all []float64
	for _, k := range loadPublicKinds(b) {
		b.Run(k.Kind.Kind, func(b *testing.B) {
			ratios := make([]float64, 0, 4)
			for _, name := range []string{"plain", "kept"} {
				if k.objects[name] != nil {
					ratios = append(ratios, k.benchmark(b, name)...)
				}
			}
			reportMedian(b, ratios)
			all = append(all, ratios...)
		})
	}
	reportMedian(b, all)
}

// reportMedian prints the median of values of x-identity.
func reportMedian(b *testing.B, ratios []float64) {
	b.Helper()
	b.Run("median", func(b *testing.B) {
		b.ReportMetric(0, "ns/op") // none
		b.ReportMetric(median(ratios), "x-identity")
	})
}

// benchmark measures the conversions of an object, and returns x-identity of each.
func (k publicKind) benchmark(b *testing.B, name string) []float64 {
	b.Helper()
	texts := k.atBoth(b, k.objects[name])
	b.Run(name+"/identity", func(b *testing.B) {
		s := slot{text: texts[k.hub]}
		b.ReportAllocs()
		b.SetBytes(int64(len(s.text)))
		for b.Loop() {
			s.convert(b, k.Kind, k.hub, k.hub)
		}
	})
	var medians []float64
	for _, way := range []struct{ name, from, to string }{{"toHub", k.spoke, k.hub}, {"toSpoke", k.hub, k.spoke}} {
		var counts []float64
		b.Run(name+"/"+way.name, func(b *testing.B) {
			counts = append(counts, k.overIdentity(b, texts[way.from], way.from, way.to))
		})
		if len(counts) > 0 { // unless -bench leaves it out
			medians = append(medians, median(counts))
		}
	}
	return medians
}

// atBoth returns an object at the hub and at the spoke: one is the text, the other the result of
// converting it.
func (k publicKind) atBoth(b *testing.B, text []byte) map[string][]byte {
	b.Helper()
	from := kindVersionOf(b, text)
	to := k.other(from)
	return map[string][]byte{from: text, to: k.stored(b, text, from, to)}
}

// overIdentity measures the conversion of a text, and returns how many times longer it takes than
// identity.
func (k publicKind) overIdentity(b *testing.B, text []byte, from, to string) float64 {
	b.Helper()
	s := slot{text: text}
	expressions := k.evaluations(b, text, from, to)
	kept := keptValues(b, text) + keptValues(b, []byte(convert(b, k.Kind, string(text), from, to)))
	extra := time.Duration(expressions)*expressionBudget + time.Duration(kept)*keptBudget
	var ratios, ofBudget []float64
	begin, done := time.Now(), 0
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.convert(b, k.Kind, from, to)
		if done++; done < turn {
			continue
		}
		conversion := time.Since(begin)
		b.StopTimer()
		begin = time.Now()
		for range turn {
			s.convert(b, k.Kind, from, from)
		}
		identity := time.Since(begin)
		ratios = append(ratios, float64(conversion)/float64(identity))
		ofBudget = append(ofBudget, float64(conversion)/float64(identityBudget*identity+turn*extra))
		b.StartTimer()
		begin, done = time.Now(), 0
	}
	b.ReportMetric(median(ratios), "x-identity")
	b.ReportMetric(median(ofBudget), "x-budget")
	b.ReportMetric(float64(expressions), "expressions")
	b.ReportMetric(float64(kept), "kept")
	b.ReportMetric(float64(expressions*expressionAllocs+kept*keptAllocs), "allocs-budget")
	return median(ratios)
}

// evaluations returns how many expressions are evaluated for a text.
func (k publicKind) evaluations(b *testing.B, text []byte, from, to string) int {
	b.Helper()
	obj, err := jsondoc.ParseObject(text)
	if err != nil {
		b.Fatal(err)
	}
	ctx := &evaluationsContext{Context: b.Context()}
	if err := k.Convert(ctx, obj, from, to); err != nil {
		b.Fatal(err)
	}
	return ctx.count
}

// An evaluationsContext counts the evaluations of expressions, each of which looks at its context.
type evaluationsContext struct {
	context.Context //nolint:containedctx // it is one

	count int
}

// Err implements context.Context.
func (c *evaluationsContext) Err() error {
	caller, _, _, _ := runtime.Caller(1)
	if strings.HasSuffix(runtime.FuncForPC(caller).Name(), "(*expression).eval") {
		c.count++
	}
	return c.Context.Err()
}

// keptValues returns how many kept values the annotations of an object have.
func keptValues(b *testing.B, text []byte) int {
	b.Helper()
	var obj struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &obj); err != nil {
		b.Fatal(err)
	}
	count := 0
	for name, value := range obj.Metadata.Annotations {
		if annotation.IsOwn(name) {
			count += max(1, strings.Count(value, `"value":`)+strings.Count(value, `"absent":`))
		}
	}
	return count
}

// median returns the median of values, which it sorts, and 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
