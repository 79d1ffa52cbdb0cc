package crontab_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/examples/customserver/crontab"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// realistic returns a CronTab of about 3 KB, most of it managedFields.
func realistic(fields string) []byte {
	entry := `{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:image":{},"f:cronSpec":{}}},` +
		`"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-01-02T03:04:05Z"}`
	return []byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"my-crontab","namespace":"default",` +
		`"uid":"c3b1a9d2-6a07-4a0e-9d4f-5a5f5d6a7c11","annotations":{"example.com/owner":"team-a"},"managedFields":[` +
		strings.Repeat(entry+",", 11) + entry + `]},"spec":{"cronSpec":"* * * * */5","image":"my-awesome-cron-image"},` + fields + `}`)
}

// object is an object that can be opened again and again.
type object struct {
	doc     jsondoc.Document
	outline jsondoc.Outline
	text    []byte
}

func (o *object) open(tb testing.TB) *jsondoc.Object {
	tb.Helper()
	o.doc.Reset(o.text)
	s, err := jsondoc.NewScanner(o.text, jsondoc.MaxDepth)
	if err == nil {
		o.outline, err = o.doc.Outline(&s, "metadata")
	}
	if err != nil {
		tb.Fatal(err)
	}
	return o.doc.Open(o.outline)
}

func BenchmarkConvert(b *testing.B) {
	kind := crontab.Kind("example.com", "v1beta1", "v1")
	for _, bench := range []struct{ name, fields, from, to string }{
		{"part", `"hostPort":"localhost:1234"`, "v1beta1", "v1"},
		{"join", `"host":"localhost","port":"1234"`, "v1", "v1beta1"},
		{"kept", `"port":"1234"`, "v1", "v1beta1"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			o := object{text: realistic(bench.fields)}
			b.ReportAllocs()
			b.SetBytes(int64(len(o.text)))
			for b.Loop() {
				if err := kind.Convert(b.Context(), o.open(b), bench.from, bench.to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The rest of a request allocates as well, and all of it should stay under 10 (docs/performance.md).
func TestConvertAllocatesLittle(t *testing.T) {
	kind := crontab.Kind("example.com", "v1beta1", "v1")
	for _, test := range []struct {
		fields, from, to string
		budget           float64
	}{
		{`"hostPort":"localhost:1234"`, "v1beta1", "v1", 6},
		{`"host":"localhost","port":"1234"`, "v1", "v1beta1", 6},
	} {
		o := object{text: realistic(test.fields)}
		opened := testing.AllocsPerRun(100, func() { o.open(t) })
		converted := testing.AllocsPerRun(100, func() {
			if err := kind.Convert(t.Context(), o.open(t), test.from, test.to); err != nil {
				t.Fatal(err)
			}
		})
		if converted-opened > test.budget {
			t.Errorf("%s: %v allocations, want at most %v", test.fields, converted-opened, test.budget)
		}
	}
}
