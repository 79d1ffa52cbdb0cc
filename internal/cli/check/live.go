package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

const (
	// nearLimit is the share of the limit of annotations from which the chart's alert fires.
	nearLimit = offline.MaxAnnotations * 3 / 4
	// maxLive bounds the findings about the objects of a kind, and so the memory.
	maxLive = 200
)

// checkLive adds findings about the objects of the cluster.
func checkLive(ctx context.Context, p *voice.Program, reader *connect.Reader, set *ruleset.Set) error {
	registry, err := set.Registry()
	if err != nil {
		return err
	}
	ruled := slices.DeleteFunc(registry.Kinds(), func(kind *converters.Kind) bool { return set.BoundKind(kind.GroupKind) == nil })
	if len(ruled) == 0 {
		p.Note("no object was read, since the rules cannot be used")
		return nil
	}
	kinds, err := reader.Kinds(ctx, set, ruled)
	if err != nil {
		return err
	}
	for i := range kinds {
		found, n, err := examineAll(ctx, reader, set, &kinds[i])
		if err != nil {
			return err
		}
		set.Findings = finding.Sort(append(set.Findings, found...))
		p.Note("%s: %s of %s", kinds[i].Name(), voice.Count(n, "live object"), kinds[i].Version)
	}
	return nil
}

// examineAll converts all objects of a kind to every other version and back.
func examineAll(ctx context.Context, r *connect.Reader, set *ruleset.Set, kind *connect.Kind) ([]finding.Finding, int, error) {
	cause := diagnosis.Of(set.BoundKind(kind.GroupKind))
	examiner, err := compare.NewExaminer(kind.Kind, set.CRD(kind.GroupKind), cause.Drops, cause.Hints)
	if err != nil {
		return nil, 0, err
	}
	sums := &liveSums{cause: cause, kind: kind, crd: set.CRD(kind.GroupKind).Name, showValues: r.ShowValues, sums: map[saying]*liveSum{}}
	n, err := r.Each(ctx, kind, func(o connect.Object) func() {
		found, err := examiner.Examine(ctx, o.Text)
		return func() { sums.add(o.Name, found, err) }
	})
	return sums.findings(n), n, err
}

// A saying is one thing that is said of objects.
type saying struct {
	code          string
	severity      finding.Severity
	way           string // of the conversion, such as v1 -> v1beta1
	path          string // that it is about; empty if the problem says it
	at, other     string // the version of path, and the one that it is converted to or from
	problem, hint string
}

// A liveSum counts the objects that something is said of.
type liveSum struct {
	objects int
	example string // the name of the first, or the one with the largest annotations
	values  string // of the example
	// Of values that are kept: the most bytes of an object, all annotations of the example, and how
	// many objects keep each path.
	bytes, largest int
	paths          map[string]int
}

// liveSums are what is said of the objects of a kind.
type liveSums struct {
	cause      *diagnosis.Rules
	kind       *connect.Kind
	crd        string
	showValues bool
	sums       map[saying]*liveSum
}

// count counts an object, and returns the sum.
func (s *liveSums) count(name string, key saying, values func() string) *liveSum {
	sum := s.sums[key]
	if sum == nil && len(s.sums) >= maxLive {
		key.path, key.problem = "", "there is more than is listed"
		sum = s.sums[key]
	}
	if sum == nil {
		sum = &liveSum{example: name, paths: map[string]int{}}
		if s.showValues && values != nil {
			sum.values = values()
		}
		s.sums[key] = sum
	}
	sum.objects++
	return sum
}

// add counts what was found about an object.
func (s *liveSums) add(name string, found *compare.Examination, err error) {
	from := s.kind.Version
	if err != nil {
		s.count(name, saying{code: "live-unreadable", severity: finding.Error, way: from, problem: "cannot be examined, " + err.Error()}, nil)
		return
	}
	for _, r := range found.Refused {
		s.count(name, saying{
			code: "live-invalid", severity: finding.Note, way: from, path: r.Path, at: from,
			problem: "the object's own schema refuses the value, " + r.Reason,
		}, nil)
	}
	for i := range found.Outcomes {
		s.outcome(name, &found.Outcomes[i], len(found.Refused) > 0)
	}
	if v := found.Broken; v != nil {
		other := otherThan(from, v.To, v.From)
		_, hint := s.cause.Explain(v)
		s.count(name, saying{
			code: "live-law", severity: finding.Error, way: from + " -> " + other, path: diagnosis.AnyElement(v.Path), at: v.At, other: otherThan(v.At, from, other),
			problem: "law " + string(v.Law) + " does not hold for the object or an edit of it", hint: hint,
		}, func() string { return wasIs(&compare.Difference{Was: v.Was, Is: v.Is}) })
	}
}

// outcome counts what becomes of an object at another version.
func (s *liveSums) outcome(name string, o *compare.Outcome, invalid bool) {
	from := s.kind.Version
	there := from + " -> " + o.To
	back := there + " -> " + from
	if o.Err != nil {
		hint := fmt.Sprintf("kubectl get %s -A -o json | webhookd convert - --to %s names all of them", s.crd, o.To)
		key := saying{code: "live-not-converted", severity: finding.Error, way: there, problem: "cannot be converted, " + diagnosis.AnyElement(o.Err.Error()), hint: hint}
		if o.TooLarge {
			key.code, key.problem = "live-too-large", "more has to be kept than fits into annotations, so every list at the other version fails"
			key.hint = "make them smaller, or give both versions the fields; " + hint
		}
		if o.Back {
			key.way = back
		}
		s.count(name, key, nil)
		return
	}
	places := func(key saying, differences []compare.Difference) {
		seen := map[string]bool{}
		for _, d := range differences {
			if key.path = d.Path; !seen[d.Path] {
				s.count(name, key, func() string { return wasIs(&d) })
			}
			seen[d.Path] = true
		}
	}
	places(saying{
		code: "live-differs", severity: finding.Error, way: back, at: from, other: o.To,
		problem: "another value comes back", hint: "--show-values prints what it was and is",
	}, o.Differs)
	places(saying{code: "live-dropped", severity: finding.Note, way: back, at: from, other: o.To, problem: "the rules drop a value"}, o.Dropped)
	places(saying{
		code: "live-pruned", severity: finding.Warning, way: there, at: o.To, other: from,
		problem: "the schema lacks the field, so the API server removes it",
	}, o.Pruned)
	for _, r := range o.Refused {
		if !invalid {
			s.count(name, saying{
				code: "live-refused", severity: finding.Warning, way: there, path: r.Path, at: o.To, other: from,
				problem: "the schema refuses the value, " + r.Reason,
				hint:    "an update at " + o.To + " that leaves the value as it is passes, the first write that changes it is refused",
			}, nil)
		}
	}
	if o.KeptBytes == 0 {
		return
	}
	sum := s.count(name, saying{code: "live-kept", severity: finding.Note, way: there}, nil)
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

func (s *liveSums) finding(key saying, sum *liveSum, objects int) finding.Finding {
	f := finding.Finding{Pos: s.cause.Conversion.NamePos, Severity: key.severity, Code: key.code, Hint: key.hint}
	where := fmt.Sprintf("%d of %s, such as %s", sum.objects, voice.Count(objects, "live object"), sum.example)
	more := ""
	switch {
	case sum.largest > 0:
		key.problem = fmt.Sprintf("values are kept, at most %d bytes an object", sum.bytes)
		where += fmt.Sprintf(" with %d of %d bytes of annotations", sum.largest, offline.MaxAnnotations)
		more = ": " + mostKept(sum.paths)
		if sum.largest > nearLimit {
			f.Severity = finding.Warning
			f.Hint = "make the object smaller before it does not fit: kubectl get " + s.crd + " NAME -n NAMESPACE -o yaml | webhookd kept - lists what it keeps"
		}
	case sum.values != "":
		more, f.Hint = ": "+sum.values, ""
	}
	if key.path != "" {
		key.way += ": " + key.path
		atom, to := s.cause.Nearest(key.at, cmp.Or(key.other, key.at), key.path)
		if rule := s.cause.RuleOf(&atom, key.at, to); rule != nil {
			f.Pos = rule.Pos
		}
	}
	f.Message = fmt.Sprintf("%s: %s (%s)%s", key.way, key.problem, where, more)
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
	names := slices.SortedFunc(maps.Keys(paths), func(a, b string) int { return cmp.Or(paths[b]-paths[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, voice.Count(paths[name], "object"))
	}
	return finding.Few(names, most)
}
