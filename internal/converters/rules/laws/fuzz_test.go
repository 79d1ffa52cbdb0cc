package laws_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// FuzzForged writes annotations of webhookd's names into what objects of the examples become: by the grammar of kept values,
// changed ones of its own, noise, and one that the fuzzer writes. Whatever they say, the object converts, and is as well formed as
// without (L13). All that is random is a choice of one of the texts.
func FuzzForged(f *testing.F) {
	type kind struct {
		versions []string
		laws     *roundtrip.Shaper
	}
	examples := findExamples(f)
	kinds := make([]kind, 0, len(examples))
	for i, e := range examples {
		s := e.suite(f)
		laws, err := s.Shaper()
		if err != nil {
			f.Fatal(err)
		}
		kinds = append(kinds, kind{s.Kind.Versions, laws})
		f.Add(uint8(i), uint8(i), "\x01\x81\x02\x71\x03\x61\x04\x51\x05\x41\x06\x31", "\x01\x02\x03\x04", "", "")
		f.Add(uint8(i), uint8(i+1), "\xf1\x10\xd2\x30\xb3\x50\x94\x70", "\x80\x90\xa0\xb0\xc0", ".spec", `{"value":{"a":1}}`)
		f.Add(uint8(i), uint8(i), "", "\xe0\x03\x70", ".spec.list--1p5rssy", `{"parts":[{"value":"x","path":["name"]}],"path":["spec","list",{"name":"a"}]}`)
		f.Add(uint8(i), uint8(i+1), "", "", ".status", `{"absent":true,"base":"0","in":0}`)
	}
	f.Fuzz(func(t *testing.T, which, between uint8, object, forgery, name, text string) {
		k := kinds[int(which)%len(kinds)]
		n := len(k.versions)
		version, to := k.versions[int(between)%n], k.versions[(int(between)+1+int(between)/n%(n-1))%n]
		var annotations map[string]string
		if name != "" {
			annotations = map[string]string{keep.Prefix + version + name: text}
		}
		if err := k.laws.Forge(t.Context(), version, to, object, forgery, annotations); err != nil {
			t.Fatal(err)
		}
	})
}
