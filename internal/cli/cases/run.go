package cases

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// run checks the rules of the suite and runs all cases. It counts failures of cases, and does not
// return them.
func (s *suite) run(ctx context.Context, update bool) error {
	set, err := s.p.Compiled.Load(ctx, s.rules, s.crds)
	if err != nil {
		return err
	}
	if s.converter, err = offline.New(s.p, &set); err != nil {
		return err
	}
	if wrong := set.Errors(); len(wrong) > 0 {
		if err := set.Render(s.p.Stdout, s.p.TextFor(s.p.Stdout)); err != nil {
			return err
		}
		s.ruleProblem = set.Broken > 0
		s.fail("%s in the rules and CRDs", voice.Count(len(wrong), "error"))
	}
	s.collect(update)
	s.tally.cases = len(s.cases)
	for _, c := range s.cases {
		kind := s.kindOf(c)
		if kind == nil {
			continue
		}
		if update {
			s.update(ctx, c, kind)
		}
		s.test(ctx, c, kind)
	}
	text := fmt.Sprintf("%s, %s", voice.Count(s.tally.cases, "case"), voice.Count(s.tally.conversions, "conversion"))
	if s.tally.failures > 0 {
		text += ", " + voice.Count(s.tally.failures, "failure")
	}
	if update {
		text += fmt.Sprintf(", %s written", voice.Count(s.tally.written, "file"))
	}
	return s.line(s.tally.failures == 0, text)
}

// line prints a result.
func (s *suite) line(ok bool, text string) error {
	result := s.p.Painted(voice.Red, "FAIL")
	if ok {
		result = s.p.Painted(voice.Green, "ok  ")
	}
	_, err := fmt.Fprintf(s.p.Stdout, "%s %s: %s\n", result, s.dir, text)
	return err
}

// fail counts and prints one failure.
func (s *suite) fail(format string, args ...any) {
	s.tally.failures++
	_ = s.line(false, strings.TrimRight(fmt.Sprintf(format, args...), "\n")) // the last line reports that stdout is gone
}

// kindOf returns the kind of a case. It reports a kind that cannot be converted, and returns nil.
func (s *suite) kindOf(c *testCase) *converters.Kind {
	versions := c.versions()
	if len(versions) == 0 {
		return nil // reported by checkFiles
	}
	f := c.at(versions[0])
	crd := s.converter.Set.CRD(f.gvk.GroupKind())
	kind, err := s.converter.Kind(f.gvk)
	switch {
	case err == nil && crd != nil && kind.Has(f.gvk.Version):
		return kind
	case s.ruleProblem: // already reported
	case err != nil:
		s.fail("%s: %v", f.name, err)
	case crd == nil:
		s.fail("%s: the CRD of this kind is missing: %s", f.name, kind.Name())
	default:
		s.fail("%s: no version %s, it has %s: %s", f.name, f.gvk.Version, strings.Join(kind.Versions, ", "), kind.Name())
	}
	return nil
}

// test runs one case.
func (s *suite) test(ctx context.Context, c *testCase, kind *converters.Kind) {
	for _, version := range c.versions() {
		for _, problem := range s.storable(c.at(version)) {
			s.fail("%s: %s", c.at(version).name, problem)
		}
	}
	for _, from := range kind.Versions {
		for _, to := range kind.Versions {
			if from != to && c.at(from) != nil {
				s.roundTrip(ctx, c, from, to)
			}
		}
	}
}

// roundTrip converts an object, compares it with the expected one, and converts it back.
func (s *suite) roundTrip(ctx context.Context, c *testCase, from, to string) {
	source, name := c.at(from), fmt.Sprintf("%s: %s -> %s", c.name, from, to)
	result, ok := s.convert(ctx, name, source.document, to)
	if !ok {
		return
	}
	if expected := c.result(from, to); expected != nil && !s.same(name, expected, result, false) {
		s.hintDrops(c, direction{from, to})
		return // the way back would fail for the same reason
	}
	name += " -> " + from
	back, ok := s.convert(ctx, name, result, from)
	if !ok {
		return
	}
	if !s.same(name, c.result(to, from), back, hasKept(source.document)) {
		s.hintDrops(c, direction{to, from})
	} else if s.verbose {
		_ = s.line(true, name)
	}
}

// hintDrops follows a difference with a hint: if rules drop the value on purpose, a FROM-to-TO file
// can say so.
func (s *suite) hintDrops(c *testCase, d direction) {
	file := c.at(d.to)
	if file == nil || c.files[d] != nil {
		return
	}
	k := s.converter.Set.BoundKind(file.gvk.GroupKind())
	if k == nil {
		return
	}
	var paths []string
	for _, drop := range hints.Drops(k) {
		if drop.From == d.to && !slices.Contains(paths, drop.Path) {
			paths = append(paths, drop.Path)
		}
	}
	if len(paths) > 0 {
		fmt.Fprintf(s.p.Stdout, "  hint: rules drop %s; if that is what is missing, add an empty %s.%s-to-%s%s, and --update writes it\n",
			strings.Join(paths, ", "), c.name, d.from, d.to, filepath.Ext(file.name))
	}
}

// stored returns two objects at the version of f as the API server stores them, if it adds defaults
// to either.
func (s *suite) stored(f *caseFile, a, b []byte) (storedA, storedB []byte) {
	crd := s.converter.Set.CRD(f.gvk.GroupKind())
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

func (s *suite) convert(ctx context.Context, name string, document []byte, to string) ([]byte, bool) {
	s.tally.conversions++
	result, err := s.converter.Convert(ctx, document, to)
	if err != nil {
		s.fail("%s: cannot be converted: %v", name, err)
	}
	return result, err == nil
}

// same compares a result with a file as the API server stores them, with defaults, and reports the
// difference. With visible it ignores annotations and labels that hold kept values.
func (s *suite) same(name string, expected *caseFile, result []byte, visible bool) bool {
	want := expected.document
	if visible {
		var wantErr, resultErr error
		want, _, wantErr = offline.Strip(want)
		result, _, resultErr = offline.Strip(result)
		if err := errors.Join(wantErr, resultErr); err != nil {
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
	text := s.p.PaintDiff(diff.Diff(expected.name, was, name, is))
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff A B": A and B follow
	s.fail("%s is not %s\n%s", name, s.short(expected.name), text)
	return false
}

// update rewrites the files of a case.
func (s *suite) update(ctx context.Context, c *testCase, kind *converters.Kind) {
	source := c.source(kind.Versions)
	if source == nil {
		return
	}
	from := source.gvk.Version
	for _, to := range kind.Versions {
		if to == from || c.files[direction{from, to}] != nil {
			continue
		}
		target := c.at(to)
		if target == nil {
			target = &caseFile{name: c.path + "." + to + filepath.Ext(source.name), format: source.format}
		}
		if s.write(ctx, target, source.document, to) {
			c.files[direction{to, ""}] = target
		}
	}
	for d, target := range c.files {
		if d.to != "" && !s.updateResult(ctx, c, d, target) {
			delete(c.files, d)
		}
	}
}

// updateResult rewrites a FROM-to-TO file from that of FROM, or else from that of TO converted to
// FROM.
func (s *suite) updateResult(ctx context.Context, c *testCase, d direction, target *caseFile) bool {
	f := cmp.Or(c.at(d.from), c.at(d.to))
	if f == nil {
		return false // reported by checkFiles
	}
	document, err := f.document, error(nil)
	if f.gvk.Version != d.from {
		document, err = s.converter.Convert(ctx, document, d.from)
	}
	return err == nil && s.write(ctx, target, document, d.to) // test reports it
}

// write converts a document, and writes the file if its content changes.
func (s *suite) write(ctx context.Context, target *caseFile, document []byte, to string) bool {
	result, err := s.converter.Convert(ctx, document, to)
	if err != nil {
		return target.document != nil // test reports it
	}
	if target.document != nil {
		if same, err := canonicalEqual(target.document, result); err == nil && same {
			return true
		}
	}
	text, err := offline.RenderDocument(result, target.format)
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
