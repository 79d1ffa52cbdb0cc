package crontab_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
)

// realistic returns a CronTab of about 3 KB, most of it managedFields.
func realistic(version, fields string) []byte {
	entry := `{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:image":{},"f:cronSpec":{}}},` +
		`"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-01-02T03:04:05Z"}`
	return []byte(`{"apiVersion":"example.com/` + version + `","kind":"CronTab","metadata":{"name":"my-crontab","namespace":"default",` +
		`"uid":"c3b1a9d2-6a07-4a0e-9d4f-5a5f5d6a7c11","annotations":{"example.com/owner":"team-a"},"managedFields":[` +
		strings.Repeat(entry+",", 11) + entry + `]},"spec":{"cronSpec":"* * * * */5","image":"my-awesome-cron-image"},` + fields + `}`)
}

func BenchmarkConvert(b *testing.B) {
	kind := kind()
	for _, bench := range []struct{ name, fields, from, to string }{
		{"part", `"hostPort":"localhost:1234"`, joined, parted},
		{"join", `"host":"localhost","port":"1234"`, parted, joined},
		{"kept", `"port":"1234"`, parted, joined},
	} {
		b.Run(bench.name, func(b *testing.B) {
			text := realistic(bench.from, bench.fields)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				obj, err := conversion.ParseObject(text)
				if err == nil {
					err = kind.Convert(b.Context(), obj, bench.to)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
