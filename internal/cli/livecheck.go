package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

const (
	// maxAnnotations is what the API server allows for all annotations of an object
	// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
	maxAnnotations = 256 << 10
	// nearLimit is the share of it from which the chart's alert fires.
	nearLimit = maxAnnotations * 3 / 4
	// maxLive bounds the findings about the objects of a kind, and so the memory.
	maxLive = 200
)

// checkLive adds findings about the objects of the cluster.
func (p *program) checkLive(ctx context.Context, reader *liveReader, set *ruleset.Set) error {
	registry, err := set.Registry()
	if err != nil {
		return err
	}
	ruled := slices.DeleteFunc(registry.Kinds(), func(kind *converters.Kind) bool { return set.BoundKind(kind.GroupKind) == nil })
	if len(ruled) == 0 {
		p.note("no object was read, since the rules cannot be used")
		return nil
	}
	kinds, err := reader.kinds(ctx, set, ruled)
	if err != nil {
		return err
	}
	for i := range kinds {
		found, n, err := reader.examine(ctx, set, &kinds[i])
		if err != nil {
			return err
		}
		set.Findings = finding.Sort(append(set.Findings, found...))
		p.note("%s: %s of %s", kinds[i].Name(), count(n, "live object"), kinds[i].version)
	}
	return nil
}

// examine converts all objects of a kind to every other version and back.
func (r *liveReader) examine(ctx context.Context, set *ruleset.Set, kind *liveKind) ([]finding.Finding, int, error) {
	cause := diagnosis.Of(set.BoundKind(kind.GroupKind))
	examiner, err := compare.NewExaminer(kind.Kind, set.CRD(kind.GroupKind), cause.Drops, cause.Hints)
	if err != nil {
		return nil, 0, err
	}
	sums := &liveSums{cause: cause, kind: kind, crd: set.CRD(kind.GroupKind).Name, showValues: r.showValues, sums: map[liveKey]*liveSum{}}
	type examined struct {
		*compare.Examination
		err error
	}
	n, err := r.each(ctx, kind, func(page []liveObject) error {
		results := inParallel(page, func(o liveObject) examined {
			found, err := examiner.Examine(ctx, o.text)
			return examined{found, err}
		})
		for i, result := range results {
			sums.add(page[i].name, result.Examination, result.err)
		}
		return ctx.Err()
	})
	return sums.findings(n), n, err
}

// A liveKey is one thing that is said of objects.
type liveKey struct {
	code         string
	to           string // version
	at           string // the version of path, empty if the code says it
	path, reason string
}

// A liveSum counts the objects that it is said of.
type liveSum struct {
	objects int
	example string // the name of the first, or the one with the largest annotations
	values  string // of the example
	hint    string
	bytes   int // kept, of the one that keeps most
	largest int // all annotations of the example
	paths   map[string]int
}

// liveSums are what is said of the objects of a kind.
type liveSums struct {
	cause      *diagnosis.Rules
	kind       *liveKind
	crd        string
	showValues bool
	sums       map[liveKey]*liveSum
}

// The codes of findings about live objects.
const (
	liveUnreadable = "live-unreadable"
	liveFailed     = "live-not-converted"
	liveTooLarge   = "live-too-large"
	liveDiffers    = "live-differs"
	liveLaw        = "live-law"
	livePruned     = "live-pruned"
	liveRefused    = "live-refused"
	liveInvalid    = "live-invalid"
	liveDropped    = "live-dropped"
	liveKept       = "live-kept"
)

// count counts an object, and returns the sum.
func (s *liveSums) count(name string, key liveKey, values func() string) *liveSum {
	sum := s.sums[key]
	if sum == nil {
		if len(s.sums) >= maxLive {
			key.path, key.reason = "", "there is more than is listed"
			sum = s.sums[key]
		}
		if sum == nil {
			sum = &liveSum{example: name, paths: map[string]int{}}
			if s.showValues && values != nil {
				sum.values = values()
			}
			s.sums[key] = sum
		}
	}
	sum.objects++
	return sum
}

// add counts what was found about an object.
func (s *liveSums) add(name string, found *compare.Examination, err error) {
	if err != nil {
		s.count(name, liveKey{code: liveUnreadable, reason: err.Error()}, nil)
		return
	}
	for _, r := range found.Refused {
		s.count(name, liveKey{code: liveInvalid, to: found.Version, path: r.Path, reason: r.Reason}, nil)
	}
	for i := range found.Outcomes {
		s.outcome(name, &found.Outcomes[i], len(found.Refused) > 0)
	}
	if v := found.Broken; v != nil {
		key := liveKey{code: liveLaw, to: otherThan(found.Version, v.To, v.From), at: v.At, path: diagnosis.AnyElement(v.Path), reason: string(v.Law)}
		sum := s.count(name, key, func() string { return wasIs(&compare.Difference{Was: v.Was, Is: v.Is}) })
		_, sum.hint = s.cause.Explain(v)
	}
}

func (s *liveSums) outcome(name string, o *compare.Outcome, invalid bool) {
	if o.Err != nil {
		code, reason := liveFailed, diagnosis.AnyElement(o.Err.Error())
		if o.TooLarge {
			code, reason = liveTooLarge, ""
		}
		to := o.To
		if o.Back {
			to += " -> " + s.kind.version
		}
		s.count(name, liveKey{code: code, to: to, reason: reason}, nil)
		return
	}
	places := func(code string, differences []compare.Difference) {
		seen := map[string]bool{}
		for _, d := range differences {
			if !seen[d.Path] {
				s.count(name, liveKey{code: code, to: o.To, path: d.Path}, func() string { return wasIs(&d) })
			}
			seen[d.Path] = true
		}
	}
	places(liveDiffers, o.Differs)
	places(liveDropped, o.Dropped)
	places(livePruned, o.Pruned)
	if !invalid {
		for _, r := range o.Refused {
			s.count(name, liveKey{code: liveRefused, to: o.To, path: r.Path, reason: r.Reason}, nil)
		}
	}
	if o.KeptBytes > 0 {
		sum := s.count(name, liveKey{code: liveKept, to: o.To}, nil)
		sum.bytes = max(sum.bytes, o.KeptBytes)
		if o.AnnotationBytes > sum.largest {
			sum.largest, sum.example = o.AnnotationBytes, name
		}
		for _, path := range o.Kept {
			if _, known := sum.paths[path]; known || len(sum.paths) < maxLive {
				sum.paths[path]++
			}
		}
	}
}

func wasIs(d *compare.Difference) string {
	return fmt.Sprintf("was %s, is %s", diagnosis.Brief(cmp.Or(d.Was, "absent")), diagnosis.Brief(cmp.Or(d.Is, "absent")))
}

// findings returns what is said of a number of objects.
func (s *liveSums) findings(objects int) []finding.Finding {
	all := make([]finding.Finding, 0, len(s.sums))
	for key, sum := range s.sums {
		all = append(all, s.finding(key, sum, objects))
	}
	return all
}

func (s *liveSums) finding(key liveKey, sum *liveSum, objects int) finding.Finding {
	f := finding.Finding{Pos: s.cause.Conversion.NamePos, Severity: finding.Error, Code: key.code}
	from := s.kind.version
	way := from + " -> " + key.to
	at, problem := cmp.Or(key.at, from), "" // the version that the path is of
	target, _, _ := strings.Cut(key.to, " ")
	names := fmt.Sprintf("kubectl get %s -A -o json | webhookd convert - --to %s names all of them", s.crd, target)
	switch key.code {
	case liveUnreadable:
		way, problem = from, "cannot be examined, "+key.reason
	case liveFailed:
		problem, f.Hint = "cannot be converted, "+key.reason, names
	case liveTooLarge:
		problem = "more has to be kept than fits into annotations, so every list at the other version fails"
		f.Hint = "make them smaller, or give both versions the fields; " + names
	case liveDiffers:
		way, problem = way+" -> "+from, "another value comes back"
		f.Hint = "--show-values prints what it was and is"
	case liveLaw:
		problem, f.Hint = "law "+key.reason+" does not hold for the object or an edit of it", sum.hint
	case liveDropped:
		f.Severity, way, problem = finding.Note, way+" -> "+from, "the rules drop a value"
	case livePruned:
		f.Severity, at, problem = finding.Warning, key.to, "the schema lacks the field, so the API server removes it"
	case liveRefused:
		f.Severity, at, problem = finding.Warning, key.to, "the schema refuses the value, "+key.reason
		f.Hint = "an update at " + key.to + " that leaves the value as it is passes, the first write that changes it is refused"
	case liveInvalid:
		f.Severity, way, problem = finding.Note, from, "the object's own schema refuses the value, "+key.reason
	case liveKept:
		f.Severity = finding.Note
		problem = fmt.Sprintf("values are kept, at most %d bytes an object", sum.bytes)
		if sum.largest > nearLimit {
			f.Severity = finding.Warning
			f.Hint = "make the object smaller before it does not fit: webhookd explain " + s.crd + "/NAME -n NAMESPACE lists what it keeps"
		}
	}
	where := fmt.Sprintf("%d of %s, such as %s", sum.objects, count(objects, "live object"), sum.example)
	if key.code == liveKept {
		where += fmt.Sprintf(" with %d of %d bytes of annotations", sum.largest, maxAnnotations)
	}
	if key.path != "" {
		way += ": " + key.path
	}
	f.Message = fmt.Sprintf("%s: %s (%s)", way, problem, where)
	if key.code == liveKept {
		f.Message += ": " + mostKept(sum.paths)
	}
	if sum.values != "" {
		f.Message += ": " + sum.values
		f.Hint = ""
	}
	if key.path != "" {
		atom, to := s.cause.Nearest(at, otherThan(at, from, key.to), key.path)
		if rule := s.cause.RuleOf(&atom, at, to); rule != nil {
			f.Pos = rule.Pos
		}
	}
	return f
}

func otherThan(version, a, b string) string {
	if version == a {
		return b
	}
	return a
}

// mostKept lists the paths that most objects keep.
func mostKept(paths map[string]int) string {
	const most = 5
	names := make([]string, 0, len(paths))
	for path := range paths {
		names = append(names, path)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(paths[b]-paths[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, count(paths[name], "object"))
	}
	return finding.Few(names, most)
}
