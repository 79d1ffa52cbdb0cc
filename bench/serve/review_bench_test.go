package main

import (
	"os"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// BenchmarkReview reviews the bodies of the workloads with the rules of crontab, without a network.
func BenchmarkReview(b *testing.B) {
	registry := crontabs(b)
	reviewer := review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{})
	for _, w := range workloads()[:6] {
		if w.clients > 1 {
			continue
		}
		b.Run(w.name, func(b *testing.B) {
			body := w.body()
			var answer []byte
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if answer, err = reviewer.Review(b.Context(), answer[:0], body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func crontabs(tb testing.TB) *converters.Registry {
	tb.Helper()
	var files [2]ruleset.File
	for i, name := range []string{"crontab/rules.yaml", "crontab/crd.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		files[i] = ruleset.File{Name: name, Text: text}
	}
	set, err := ruleset.Compiled{}.Load(tb.Context(), files[:1], files[1:])
	if err != nil {
		tb.Fatal(err)
	}
	registry, err := set.Registry()
	if err != nil {
		tb.Fatal(err)
	}
	return registry
}
