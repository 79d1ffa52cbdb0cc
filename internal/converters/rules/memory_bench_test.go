package rules_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A gauge is a context that notes the largest live heap whenever the conversion looks at it.
type gauge struct {
	context.Context //nolint:containedctx // it is one

	most uint64
	next int // of the looks that count
	seen int
}

func (g *gauge) Err() error {
	if g.seen++; g.seen >= g.next {
		g.next = g.seen + g.seen/8 + 1
		g.most = max(g.most, liveHeap())
	}
	return g.Context.Err()
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A load is an object that takes much memory for its size.
type load struct {
	name string
	pair
	from, to string
	text     string
}

func loads() []load {
	list := func(n int, element func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = element(i)
		}
		return strings.Join(all, ",")
	}
	spec := func(format string, args ...any) string { return `,"spec":{` + fmt.Sprintf(format, args...) + `}` }
	params := pair{
		beta: "{spec: {params: {'*': string}}}", v1: "{spec: {params: [{name: string, value: string}, name]}}",
		rules: `- {spoke: ".spec.params{name}", hub: ".spec.params[name].value"}`,
	}
	elements := pair{
		beta: "{spec: {l: [{name: string, a: string, only: string}, name]}}", v1: "{spec: {l: [{name: string, b: string}, name]}}",
		rules: `- {spoke: ".spec.l[name].a", hub: ".spec.l[name].b"}`,
	}
	lists := pair{
		beta: "{spec: {l: [{m: [{a: string}]}]}}", v1: "{spec: {l: [{m: [{b: string}]}]}}",
		rules: `- {spoke: ".spec.l[].m[].a", hub: ".spec.l[].m[].b"}`,
	}
	templates := pair{
		beta: "{spec: {l: [{hp: string}]}}", v1: "{spec: {l: [{h: string, p: string}]}}",
		rules: `- {spoke: ".spec.l[].hp", hub: {h: ".spec.l[].h", p: ".spec.l[].p"}, template: "{h}:{p}"}`,
	}
	plain := pair{beta: "{spec: {a: string, m: {'*': string}}}", v1: "{spec: {b: string, m: {'*': string}}}", rules: "- {spoke: .spec.a, hub: .spec.b}"}
	toList := spec(`"params":{%s}`, list(10000, func(i int) string { return fmt.Sprintf(`"key-%d":"value-%d"`, i, i) }))
	toMap := spec(`"params":[%s]`, list(10000, func(i int) string { return fmt.Sprintf(`{"name":"key-%d","value":"value-%d"}`, i, i) }))
	return []load{
		{"map to list", params, "v1beta1", "v1", toList},
		{"list to map", params, "v1", "v1beta1", toMap},
		{"elements", elements, "v1beta1", "v1", spec(`"l":[%s]`, list(10000, func(i int) string { return fmt.Sprintf(`{"name":"n%d","a":"x"}`, i) }))},
		{"kept values", elements, "v1beta1", "v1", spec(`"l":[%s]`, list(3000, func(i int) string { return fmt.Sprintf(`{"name":"n%d","only":"x"}`, i) }))},
		{"lists of lists", lists, "v1beta1", "v1", spec(`"l":[%s]`, list(2000, func(int) string { return `{"m":[{"a":"1"},{"a":"2"},{"a":"3"},{"a":"4"}]}` }))},
		{"templates", templates, "v1beta1", "v1", spec(`"l":[%s]`, list(10000, func(i int) string { return fmt.Sprintf(`{"hp":"host-%d:80"}`, i) }))},
		{"keys that no rule touches", plain, "v1beta1", "v1", spec(`"a":"x","m":{%s}`, list(200000, func(i int) string { return fmt.Sprintf(`"%x":""`, i) }))},
	}
}

// BenchmarkMemory converts the shapes that take the most memory for their size. B/byte is the peak
// of the live heap for each byte of the object, without the object itself.
func BenchmarkMemory(b *testing.B) {
	for _, s := range loads() {
		b.Run(s.name, func(b *testing.B) {
			kind := s.kind(b)
			text := []byte(head(s.from, s.text))
			most := uint64(0)
			for b.Loop() {
				before := liveHeap()
				g := &gauge{Context: b.Context()}
				obj, err := jsondoc.ParseObject(text)
				if err != nil {
					b.Fatal(err)
				}
				err = kind.Convert(g, obj, s.from, s.to)
				if most = max(most, max(g.most, liveHeap(), before)-before); err != nil {
					b.Fatal(err)
				}
				runtime.KeepAlive(obj)
			}
			b.ReportMetric(float64(most)/float64(len(text)), "B/byte")
		})
	}
}
