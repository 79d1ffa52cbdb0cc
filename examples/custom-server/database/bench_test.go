package database_test

import (
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
)

func BenchmarkConvert(b *testing.B) {
	kind := conversion.Must(database.Kind(crds.Databases))
	const head = `{"apiVersion":"example.com/v1beta1","kind":"Database","metadata":{"name":"orders","namespace":"shop",` +
		`"uid":"c3b1a9d2-6a07-4a0e-9d4f-5a5f5d6a7c11","labels":{"app":"orders"},"annotations":{"example.com/owner":"team-a"}},`
	const status = `"status":{"ready":true,"endpoint":"orders.shop.svc:5432","conditions":[{"type":"Ready","status":"True",` +
		`"lastTransitionTime":"2026-01-02T03:04:05Z","reason":"Running","message":"all instances run"}]}`
	for _, bench := range []struct{ name, spec, to string }{
		{"same", `"spec":{"engine":"postgres-17","storageGB":100,"backupPolicy":{"schedule":"0 3 * * *"}},`, "v1"},
		{"kept", `"spec":{"engine":"postgres-17","storageGB":100,"backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}},`, "v1alpha1"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			text := []byte(head + bench.spec + status + "}")
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
