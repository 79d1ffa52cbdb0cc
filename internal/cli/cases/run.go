package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// run checks the rules of the suite and runs all cases. It counts failures of cases, and does not
// return them.
func (s *testSuite) run(ctx context.Context, p *voice.Program, o *testOptions) error {
	s.out, s.verbose = p, o.verbose
	set, err := p.Compiled.Load(ctx, s.rules, s.crds)
	if err != nil {
		return err
	}
	s.set = &set
	registry, err := set.Registry()
	if err != nil {
		return err
	}
	s.converter = offline.New(p, registry)
	if len(set.Errors()) > 0 {
		if err := set.Render(p.Stdout, p.TextFor(p.Stdout)); err != nil {
			return err
		}
		s.ruleProblem = set.Broken > 0
		s.fail("%s in the rules and CRDs", voice.Count(len(set.Errors()), "error"))
	}
	s.collect(o.update)
	s.tally.cases = len(s.cases)
	for _, c := range s.cases {
		kind := s.kindOf(c)
		if kind == nil {
			continue
		}
		if o.update {
			s.update(ctx, c, kind)
		}
		s.test(ctx, c, kind)
	}
	return s.sum(o.update)
}

// sum prints the last line of a suite.
func (s *testSuite) sum(update bool) error {
	result := s.okay()
	if s.tally.failures > 0 {
		result = s.failed()
	}
	text := fmt.Sprintf("%s %s: %s, %s", result, s.dir, voice.Count(s.tally.cases, "case"), voice.Count(s.tally.conversions, "conversion"))
	if s.tally.failures > 0 {
		text += ", " + voice.Count(s.tally.failures, "failure")
	}
	if update {
		text += fmt.Sprintf(", %s written", voice.Count(s.tally.written, "file"))
	}
	_, err := fmt.Fprintln(s.out.Stdout, text)
	return err
}

// okay and failed begin the lines of results.
func (s *testSuite) okay() string   { return s.out.Painted(voice.Green, "ok  ") }
func (s *testSuite) failed() string { return s.out.Painted(voice.Red, "FAIL") }

// fail counts and prints one failure.
func (s *testSuite) fail(format string, args ...any) {
	s.tally.failures++
	fmt.Fprintf(s.out.Stdout, "%s %s: %s\n", s.failed(), s.dir, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}

func (s *testSuite) pass(format string, args ...any) {
	if s.verbose {
		fmt.Fprintf(s.out.Stdout, "%s %s: %s\n", s.okay(), s.dir, fmt.Sprintf(format, args...))
	}
}

// kindOf returns the kind of a case. It reports a kind that cannot be converted, and returns nil.
func (s *testSuite) kindOf(c *testCase) *converters.Kind {
	versions := slices.Sorted(maps.Keys(c.versions))
	if len(versions) == 0 {
		return nil // reported by checkFiles
	}
	f := c.versions[versions[0]]
	kind, crd := s.converter.Registry.Lookup(f.gvk.GroupKind()), s.set.CRD(f.gvk.GroupKind())
	switch {
	case kind != nil && crd != nil && kind.Has(f.gvk.Version):
		return kind
	case s.ruleProblem: // already reported
	case kind == nil:
		s.fail("%s: %v", f.name, s.converter.NoConverter(f.gvk.GroupKind()))
	case crd == nil:
		s.fail("%s: the CRD of this kind is missing: %s", f.name, kind.Name())
	default:
		s.fail("%s: no version %s, it has %s: %s", f.name, f.gvk.Version, strings.Join(kind.Versions, ", "), kind.Name())
	}
	return nil
}

// test runs one case.
func (s *testSuite) test(ctx context.Context, c *testCase, kind *converters.Kind) {
	for _, version := range slices.Sorted(maps.Keys(c.versions)) {
		for _, problem := range s.storable(c.versions[version]) {
			s.fail("%s: %s", c.versions[version].name, problem)
		}
	}
	for _, from := range kind.Versions {
		if c.versions[from] == nil {
			continue
		}
		for _, to := range kind.Versions {
			if from != to {
				s.roundTrip(ctx, c, from, to)
			}
		}
	}
}

// roundTrip converts an object, compares it with the expected one, and converts it back.
func (s *testSuite) roundTrip(ctx context.Context, c *testCase, from, to string) {
	source, name := c.versions[from], fmt.Sprintf("%s: %s -> %s", c.name, from, to)
	result, ok := s.convert(ctx, name, source.document, to)
	if !ok {
		return
	}
	expected := c.oneWay[direction{from, to}]
	if expected == nil {
		expected = c.versions[to]
	}
	if expected != nil && !s.same(name, expected, result, false) {
		s.hintDrops(c, direction{from, to})
		return // the way back would fail for the same reason
	}
	name += " -> " + from
	back, ok := s.convert(ctx, name, result, from)
	if !ok {
		return
	}
	if expected = c.oneWay[direction{to, from}]; expected == nil {
		expected = source
	}
	if s.same(name, expected, back, hasKept(source.document)) {
		s.pass("%s", name)
		return
	}
	s.hintDrops(c, direction{to, from})
}

// stored returns two objects at the version of f as the API server stores them, if it adds defaults
// to either.
func (s *testSuite) stored(f *caseFile, a, b []byte) (storedA, storedB []byte) {
	crd := s.set.CRD(f.gvk.GroupKind())
	if crd == nil || crd.Version(f.gvk.Version) == nil {
		return a, b
	}
	version := crd.Version(f.gvk.Version)
	storedA, changedA, errA := version.Stored(a)
	storedB, changedB, errB := version.Stored(b)
	if errA != nil || errB != nil || !changedA && !changedB {
		return a, b
	}
	return encoded(storedA), encoded(storedB)
}

// encoded spells the numbers of an object as the API server does.
func encoded(document []byte) []byte {
	var object map[string]any
	if err := utiljson.Unmarshal(document, &object); err != nil {
		return document
	}
	text, err := json.Marshal(object)
	if err != nil {
		return document
	}
	return text
}

func (s *testSuite) convert(ctx context.Context, name string, document []byte, to string) ([]byte, bool) {
	s.tally.conversions++
	result, err := s.converted(ctx, document, to)
	if err != nil {
		s.fail("%s: cannot be converted: %v", name, err)
	}
	return result, err == nil
}

func (s *testSuite) converted(ctx context.Context, document []byte, to string) ([]byte, error) {
	_, gvk, err := manifest.ParseObject(document)
	if err != nil {
		return nil, err
	}
	s.converter.Version = to
	return s.converter.Object(ctx, document, gvk)
}

// same compares a result with a file as the API server stores them, with defaults, and reports the
// difference. With visible it ignores annotations and labels that hold kept values.
func (s *testSuite) same(name string, expected *caseFile, result []byte, visible bool) bool {
	want := expected.document
	if visible {
		var err error
		if want, err = offline.WithoutKept(want); err == nil {
			result, err = offline.WithoutKept(result)
		}
		if err != nil {
			s.fail("%s: %v", name, err)
			return false
		}
	}
	want, result = s.stored(expected, want, result)
	was, wasErr := canonical(want)
	is, isErr := canonical(result)
	if wasErr != nil || isErr != nil {
		s.fail("%s: cannot be compared: %v, %v", name, wasErr, isErr)
		return false
	}
	if bytes.Equal(was, is) {
		return true
	}
	text := s.out.PaintDiff(diff.Diff(expected.name, was, name, is))
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff A B": A and B follow
	s.fail("%s is not %s\n%s", name, s.short(expected.name), text)
	return false
}

// update rewrites the files of a case.
func (s *testSuite) update(ctx context.Context, c *testCase, kind *converters.Kind) {
	source := c.source(kind.Versions)
	if source == nil {
		return
	}
	from := source.gvk.Version
	for _, to := range kind.Versions {
		if to == from || c.oneWay[direction{from, to}] != nil {
			continue
		}
		target := c.versions[to]
		if target == nil {
			target = &caseFile{name: c.path + "." + to + filepath.Ext(source.name), format: source.format}
		}
		if s.write(ctx, target, source.document, to) {
			c.versions[to] = target
		}
	}
	for d, target := range c.oneWay {
		document, ok := s.origin(ctx, c, d)
		if !ok || !s.write(ctx, target, document, d.to) {
			delete(c.oneWay, d)
		}
	}
}

// origin returns the object that a FROM-to-TO file is made from: the file of FROM, or else the file
// of TO converted to FROM.
func (s *testSuite) origin(ctx context.Context, c *testCase, d direction) ([]byte, bool) {
	if f := c.versions[d.from]; f != nil {
		return f.document, true
	}
	f := c.versions[d.to]
	if f == nil {
		return nil, false // reported by checkFiles
	}
	document, err := s.converted(ctx, f.document, d.from)
	return document, err == nil // test reports it
}

// write converts a document, and writes the file if its content changes.
func (s *testSuite) write(ctx context.Context, target *caseFile, document []byte, to string) bool {
	result, err := s.converted(ctx, document, to)
	if err != nil {
		return target.document != nil // test reports it
	}
	if target.document != nil {
		if same, err := canonicalEqual(target.document, result); err == nil && same {
			return true
		}
	}
	text, err := target.text(result)
	if err == nil {
		err = os.WriteFile(target.name, text, 0o644) //nolint:gosec // the user's own file
	}
	if err != nil {
		s.fail("%s: %v", target.name, err)
		return false
	}
	s.tally.written++
	target.document = result
	_, target.gvk, err = manifest.ParseObject(result)
	return err == nil
}
