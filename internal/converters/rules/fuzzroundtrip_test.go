package rules_test

import (
	"context"
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

// FuzzRoundTrip makes a valid object of a schema by the choices of the first text, and checks all
// laws for its conversion by the rules of one of the cases, and for an edit by the choices of the
// second text.
func FuzzRoundTrip(f *testing.F) {
	cases := allCases()
	suites := make([]func(ctx context.Context, version, object, edits string) error, 0, len(cases))
	for i, test := range cases {
		s := test.suite(f)
		suites = append(suites, lawtest.Shaper(f, &s))
		f.Add(uint8(i), false, "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", "\x02\x01\x02\x01\x02\x01\x02\x01")
		f.Add(uint8(i), true, "\x05\x84\x03\xf2\x01\xb2\x03\x74\x05\x06\xd7\x08\x97\x06", "\xff\x10")
		f.Add(uint8(i), true, "", "\x0b\xca\x09\x78\x07\xa6\x05\x14\xe3\x02")
	}
	f.Fuzz(func(t *testing.T, which uint8, down bool, shape, edit string) {
		version := "v1beta1"
		if down {
			version = "v1"
		}
		if err := suites[int(which)%len(suites)](t.Context(), version, shape, edit); err != nil {
			t.Fatal(err)
		}
	})
}

// suite has the laws of a case.
func (c engineCase) suite(tb testing.TB) hold.Suite {
	tb.Helper()
	crds, err := apiserver.Parse("crd.yaml", c.pair.crd(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return hold.Suite{
		Kind: c.pair.kind(tb), Seed: 2, CRD: crds[0], Drops: c.drops, Stored: true, Walks: true, Forgeries: true,
	}
}
