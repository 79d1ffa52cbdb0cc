package laws_test

import (
	"context"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

// FuzzForged holds the examples to all laws on an object that the bytes of one text choose, with
// edits and forged annotations that the bytes of another choose. Whatever the annotations say, the
// object converts, and the result is as well formed as without them (L13).
func FuzzForged(f *testing.F) {
	type kind struct {
		versions []string
		check    func(ctx context.Context, version, object, edits string) error
	}
	examples := findExamples(f)
	kinds := make([]kind, 0, len(examples))
	for i, e := range examples {
		s := e.suite(f)
		s.Forgeries = true
		kinds = append(kinds, kind{s.Kind.Versions, lawtest.Shaper(f, &s)})
		f.Add(uint8(i), uint8(i), "\x01\x81\x02\x71\x03\x61\x04\x51\x05\x41\x06\x31", "\x01\x02\x03\x04")
		f.Add(uint8(i), uint8(i+1), "\xf1\x10\xd2\x30\xb3\x50\x94\x70", "\x80\x90\xa0\xb0\xc0")
		f.Add(uint8(i), uint8(i), "", "\xe0\x03\x70")
		f.Add(uint8(i), uint8(i+1), "", "")
	}
	f.Fuzz(func(t *testing.T, which, at uint8, object, edits string) {
		k := kinds[int(which)%len(kinds)]
		if err := k.check(t.Context(), k.versions[int(at)%len(k.versions)], object, edits); err != nil {
			t.Fatal(err)
		}
	})
}
