// Package conversiontest holds converters to the laws of conversion in tests. They are those of
// `webhookd fuzz`: see
// https://github.com/crdconvert/webhookd/blob/main/docs/explanation/losslessness.md#the-laws.
package conversiontest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/serve/library"
)

// Options say how thorough [Laws] is. The zero Options are those of a test in CI: a second for a
// kind of ordinary size.
type Options struct {
	// Seed is that of all random choices. A failure names it. 0 means 1.
	Seed uint64
	// Objects is how many random objects of each version are tried. 0 means 100.
	Objects uint64
	// Samples are objects of any version, as JSON, to try as well, with fragments of them.
	Samples [][]byte
	// Drops are places whose values the converter loses on purpose. No law looks at them.
	Drops []Drop
}

// A Drop is a place whose values a conversion from one version to another loses on purpose. The
// path is one of From, as rules write paths: .spec.ports[].name. An empty From or To is any
// version.
type Drop struct{ From, To, Path string }

// Laws holds a kind to all laws: on random objects of the CRD's schemas, on fragments of them, on
// edits of what they become, on walks in which clients write an object at all versions and the API
// server stores it at several, and on forged annotations. The CRD is the text that
// [conversion.Lossless] takes. Objects are pruned and defaulted in between as the API server does.
//
// It fails the test at the first law that does not hold, with the smallest object that it finds,
// for a version of which it makes no valid object, for samples of other kinds, and for a CRD that
// is not valid or not that of the kind. The same options try the same objects. A nil opts is the
// zero Options.
func Laws(tb testing.TB, kind conversion.Kind, crd []byte, opts *Options) {
	tb.Helper()
	suite, err := newSuite(kind, crd, opts)
	if err != nil {
		tb.Fatalf("conversiontest.Laws: %v", err)
	}
	run(tb, suite, opts)
}

// Same holds a kind to all laws, as [Laws] does, and to the answers of another kind: each valid
// object converts to the same. So rules can replace code, or new code old code.
//
// What either kind keeps in annotations is not compared, nor are objects that the kind want cannot
// convert, or places in Drops: From is the version of the answer here. An absent field and a zero
// value differ, unless the schema has it as default.
func Same(tb testing.TB, want, got conversion.Kind, crd []byte, opts *Options) {
	tb.Helper()
	suite, err := newSuite(got, crd, opts)
	like, errWant := library.Kinds(want)
	if err = errors.Join(err, errWant); err == nil && want.GroupKind != got.GroupKind {
		err = fmt.Errorf("the kinds are not the same: %s, %s", want.GroupKind, got.GroupKind)
	}
	if err == nil {
		err = sameVersions(want, suite.CRD)
	}
	if err != nil {
		tb.Fatalf("conversiontest.Same: %v", err)
	}
	suite.Like = &like[0]
	run(tb, suite, opts)
}

// run holds a kind to the laws.
func run(tb testing.TB, suite *hold.Suite, opts *Options) {
	tb.Helper()
	objects := uint64(100)
	var samples [][]byte
	if opts != nil {
		objects, samples = cmp.Or(opts.Objects, objects), opts.Samples
	}
	for _, all := range []iter.Seq[[]byte]{slices.Values(samples), generate.Fragments(samples...)} {
		if err := suite.Check(tb.Context(), all); err != nil {
			tb.Fatal(err)
		}
	}
	stats, err := suite.Fuzz(tb.Context(), objects)
	if err != nil {
		tb.Fatal(err)
	}
	for _, short := range stats.Shortfalls {
		if short.Different == 0 {
			tb.Fatalf("no random object of %s is valid, so nothing was tested, add Samples: %s", short.Version, reasons(short.Causes))
		}
	}
}

// reasons says what a schema has against objects.
func reasons(causes []generate.Refusal) string {
	texts := make([]string, 0, len(causes))
	for _, c := range causes {
		texts = append(texts, c.Path+" "+c.Reason)
	}
	return strings.Join(texts, ", ")
}

func newSuite(kind conversion.Kind, crd []byte, opts *Options) (*hold.Suite, error) {
	if opts == nil {
		opts = &Options{}
	}
	kinds, errKind := library.Kinds(kind)
	crds, errCRD := apiserver.Parse("crd", crd)
	if err := errors.Join(errKind, errCRD); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(crds, func(c *crdschema.CRD) bool { return c.GroupKind() == kind.GroupKind })
	if at < 0 {
		return nil, fmt.Errorf("the text has no CustomResourceDefinition of %s", kind.GroupKind)
	}
	if err := errors.Join(sameVersions(kind, crds[at]), areOf(kind, opts.Samples)); err != nil {
		return nil, err
	}
	suite := &hold.Suite{
		Kind: &kinds[0], CRD: crds[at], Seed: opts.Seed, Stored: true, Walks: true, Forgeries: true,
	}
	if suite.Seed == 0 {
		suite.Seed = hold.DefaultSeed
	}
	for _, d := range opts.Drops {
		suite.Drops = append(suite.Drops, hold.Drop(d))
	}
	return suite, nil
}

// sameVersions returns an error if a kind has other versions than its CRD: these would not be
// tested.
func sameVersions(kind conversion.Kind, crd *crdschema.CRD) error {
	has, want := slices.Sorted(slices.Values(kind.Versions)), slices.Sorted(slices.Values(crd.VersionNames()))
	if slices.Equal(has, want) {
		return nil
	}
	return fmt.Errorf("the kind has the versions %s, and the CRD %s", strings.Join(has, ", "), strings.Join(want, ", "))
}

// areOf returns an error for each sample that is not an object of the kind.
func areOf(kind conversion.Kind, samples [][]byte) error {
	var problems []error
	for i, text := range samples {
		obj, err := conversion.ParseObject(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("the text of Options.Samples[%d] is not a JSON object: %w", i, err))
			continue
		}
		u, err := obj.Unstructured()
		if err != nil {
			problems = append(problems, fmt.Errorf("the object of Options.Samples[%d]: %w", i, err))
		} else if gvk := u.GroupVersionKind(); gvk.GroupKind() != kind.GroupKind || !slices.Contains(kind.Versions, gvk.Version) {
			problems = append(problems, fmt.Errorf("the text of Options.Samples[%d] is not an object of %s, set its apiVersion and kind", i, kind.GroupKind))
		}
	}
	return errors.Join(problems...)
}
