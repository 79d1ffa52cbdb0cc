package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// rulesPoll is the interval at which rules and CRDs are read. The content is compared, so a swapped
// ConfigMap link and an edited file work alike.
const rulesPoll = 5 * time.Second

// rolloutPatience is how long a replica is not ready after it has started with rules of which only
// some are sound. A rollout then stops before it replaces a replica that has them all: one of the
// release that knows the rules, or one that has kept the last good ones. If no such replica is
// left, the sound kinds are served after that time.
const rolloutPatience = 5 * time.Minute

// maxLoggedFindings bounds the findings in one log line.
const maxLoggedFindings = 20

// A ruleWatch follows the files of rules and CRDs, and replaces the whole registry when a change is
// sound. After a change with findings, or one that leaves no rules, it keeps the last good rules
// with the schemas on disk: rules do not go bad, but a copy of a CRD becomes outdated. Until there
// are good rules, it serves the kinds without findings, since a mistake in the rules of one kind
// must not make others unreadable.
type ruleWatch struct {
	rules, crds string // paths; empty for compiled-in kinds only
	compiled    ruleset.Compiled
	load        ruleset.Loader
	logger      *zap.Logger
	counted     ruleCounts
	printer     findingsPrinter // or nil
	current     atomic.Pointer[servedRules]
	opened      time.Time
	transition  transition

	read     [2][]ruleset.File // last content
	failure  string            // last logged failure
	passed   string            // last logged files that were skipped
	warnings string            // last logged warnings
}

// servedRules are one generation: a registry and what it was built from. lack is an error if there
// should be rules, but none of them converts a kind. partial says that some kinds have had errors
// ever since the start.
type servedRules struct {
	registry *converters.Registry
	lack     error
	partial  bool
	rules    []ruleset.File // the last good ones
	ruled    ruleset.RuledKinds
	digest   string // of ruled; empty if no rules are set
	copies   map[*converters.Kind]*crdCopy
}

// ruleCounts are the metrics of rules.
type ruleCounts interface {
	RulesRead(findings int)
	RulesServed(kinds int, digest string)
}

// openRules returns a watch with the registry for the files. It fails if they cannot be read, if
// they have errors and it shall not wait for better ones, or if ctx ends.
func openRules(ctx context.Context, c config.Config, compiled ruleset.Compiled, logger *zap.Logger, counted ruleCounts, printer findingsPrinter) (*ruleWatch, error) {
	w := &ruleWatch{
		rules: c.Rules, crds: c.CRDs, compiled: compiled, load: ruleset.WithoutPanics(compiled.Load), logger: logger, counted: counted, printer: printer,
		opened: time.Now(), transition: transition{period: c.RulesTransition},
	}
	if w.rules == "" {
		if _, err := w.swap(&servedRules{}); err != nil {
			return nil, err
		}
		return w, nil
	}
	var err error
	if w.read, err = w.texts(ctx); err != nil {
		return nil, err
	}
	set, err := w.loaded(ctx, w.read[0], w.read[1])
	if err != nil {
		return nil, err
	}
	if problems := w.problems(&set); len(problems) > 0 && !c.WaitForRules {
		w.failed(refusedAtStart, &set, problems, StackOf(set.Panicked)...)
		return nil, fmt.Errorf("%s: the rules have errors: fix them, or set wait-for-rules to serve the kinds without any", w.rules)
	}
	if err := w.serve(ctx, &set); err != nil {
		return nil, err
	}
	return w, nil
}

// loaded calls load. A panic becomes an error.
func (w *ruleWatch) loaded(ctx context.Context, ruleFiles, crdFiles []ruleset.File) (ruleset.Set, error) {
	return leaving(ctx, func() (ruleset.Set, error) { return w.load(ctx, ruleFiles, crdFiles) })
}

// leaving returns the result of f, or leaves f running as soon as ctx ends: a file system may hang,
// and a load of a large file notices late. A panic becomes an error.
func leaving[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var is result
		if err := ruleset.Survive(func() { is.value, is.err = f() }); err != nil {
			is.err = err
		}
		done <- is
	}()
	select {
	case is := <-done:
		return is.value, is.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// registry returns the served registry.
func (w *ruleWatch) registry() *converters.Registry { return w.current.Load().registry }

// digest identifies the served rules and CRDs. It is empty if no rules are set.
func (w *ruleWatch) digest() string { return w.current.Load().digest }

// ready returns an error if this replica should not get reviews yet. During a rollout, a replica
// without the kinds of its rules would replace one that has them.
func (w *ruleWatch) ready() error {
	current := w.current.Load()
	if current.lack == nil && len(current.registry.Kinds()) == 0 {
		return errors.New("no converters are loaded: set rules and crds")
	}
	if current.partial && time.Since(w.opened) < rolloutPatience {
		return fmt.Errorf("%s: rules of some kinds have errors, which the log and webhookd check show; ready without those kinds %s after the start",
			w.rules, rolloutPatience)
	}
	return current.lack
}

// run follows the files until ctx ends.
func (w *ruleWatch) run(ctx context.Context) {
	if w.rules != "" {
		every(ctx, rulesPoll, func() {
			w.look(ctx)
			w.advance(ctx)
		})
	}
}

// look reads the files, and logs a change or failure once. It survives a panic of a parser, since
// all replicas read the same file at the same time.
func (w *ruleWatch) look(ctx context.Context) {
	if err := ruleset.Survive(func() { w.reload(ctx) }); err != nil {
		w.fail([]finding.Finding{{Message: err.Error()}}, StackOf(err)...)
	}
}

func (w *ruleWatch) reload(ctx context.Context) {
	read, err := w.texts(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		w.read = [2][]ruleset.File{} // the next content counts as a change
		w.fail([]finding.Finding{{Message: err.Error()}})
		return
	case ruleset.SameTexts(read[0], w.read[0]) && ruleset.SameTexts(read[1], w.read[1]):
		return
	}
	set, err := w.loaded(ctx, read[0], read[1])
	if ctx.Err() != nil {
		return
	}
	w.read = read
	if err == nil {
		err = w.change(ctx, &set)
	}
	if err != nil && ctx.Err() == nil {
		w.fail([]finding.Finding{{Message: err.Error()}}, StackOf(err)...)
	}
}

// change serves a set, or keeps the last good rules if there are any. An empty set is treated as a
// mistake, such as a deleted ConfigMap or a renamed key.
func (w *ruleWatch) change(ctx context.Context, set *ruleset.Set) error {
	before := w.current.Load()
	if problems := w.problems(set); len(problems) > 0 && before.lack == nil {
		return w.keep(ctx, before, set, problems)
	}
	if err := w.serve(ctx, set); err != nil {
		return err
	}
	now := w.registry().Kinds()
	if w.lack(set) == nil {
		w.logger.Info("rules loaded", zap.Array("kinds", kinds(now)), zap.String("rulesDigest", w.digest()))
	}
	if gone := without(before.registry.Kinds(), now); len(gone) > 0 {
		w.logger.Warn("kinds are no longer converted, their rules are gone", zap.Strings("kinds", gone))
	}
	return nil
}

// keep serves the last good rules with the schemas of a set that has problems. The engine treats a
// field as unknown if the schema lacks it, so outdated schemas would do harm. Kinds that the last
// good rules cannot convert with these schemas are converted by the new rules if possible, or else
// as before.
func (w *ruleWatch) keep(ctx context.Context, before *servedRules, set *ruleset.Set, problems []finding.Finding) error {
	good, message := *set, servedAsBefore
	if !ruleset.SameTexts(set.Files, before.rules) {
		message = lastGoodKept
		var err error
		if good, err = w.loaded(ctx, before.rules, w.read[1]); err != nil {
			return err
		}
	}
	next, _ := good.RuledAgain(before.ruled).With(set.Ruled())
	next, left := next.With(before.ruled)
	w.transition.set = &good
	next = w.transition.during(ctx, next, time.Now())
	changed, err := w.swap(&servedRules{lack: before.lack, partial: before.partial, rules: before.rules, ruled: next})
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		w.logger.Info("schemas loaded", zap.Strings("kinds", changed), zap.String("rulesDigest", w.digest()))
	}
	if w.failed(message, set, problems, StackOf(set.Panicked)...) && len(left) > 0 {
		w.logger.Warn("kinds keep the schemas that they had, the CRDs on disk have none for them", zap.Strings("kinds", left))
	}
	return nil
}

// serve serves the sound kinds of a set, and logs what is wrong with the others.
func (w *ruleWatch) serve(ctx context.Context, set *ruleset.Set) error {
	problems, lack := w.problems(set), w.lack(set)
	w.transition.to(set, time.Now())
	next := &servedRules{
		lack: lack, partial: lack == nil && len(problems) > 0, rules: set.Files, ruled: w.transition.during(ctx, set.Ruled(), time.Now()),
	}
	if _, err := w.swap(next); err != nil {
		return err
	}
	w.logNotes(set)
	if len(problems) > 0 {
		w.failed(servedWithFindings, set, problems, StackOf(set.Panicked)...)
		return nil
	}
	w.failure = ""
	w.counted.RulesRead(0)
	return nil
}

// swap builds the registry of a generation and serves it. It returns the names of the kinds whose
// schemas have changed.
func (w *ruleWatch) swap(next *servedRules) (changed []string, err error) {
	if next.registry, err = w.compiled.Registry(next.ruled.Kinds); err != nil {
		return nil, err
	}
	next.copies, changed = copiesOf(next.registry, &next.ruled, w.current.Load())
	if w.rules != "" {
		next.digest = next.ruled.Digest()
		w.counted.RulesServed(len(next.ruled.Kinds), next.digest)
	}
	w.current.Store(next)
	return changed, nil
}

// problems returns the errors in a set. A set without a Conversion is an error as well.
func (w *ruleWatch) problems(set *ruleset.Set) []finding.Finding {
	problems := set.Errors()
	if lack := w.lack(set); lack != nil && len(problems) == 0 {
		return []finding.Finding{{Message: lack.Error()}}
	}
	return problems
}

// logNotes logs once which files are skipped, and what the API server may refuse.
func (w *ruleWatch) logNotes(set *ruleset.Set) {
	if notes := ruleset.SkippedNotes(set.Passed); isNews(&w.passed, notes) {
		w.logger.Warn("files in followed folders are skipped, put files there or take them out of the folder",
			zap.Strings("files", textsOf(finding.Sort(notes))))
	}
	warnings := slices.DeleteFunc(finding.Worst(set.Findings, finding.Warning), finding.Finding.IsError)
	if isNews(&w.warnings, warnings) {
		w.logger.Warn("the API server may refuse what rules with warnings make", w.say(set, warnings))
	}
}

// isNews reports whether there are findings, and others than last time.
func isNews(last *string, findings []finding.Finding) bool {
	text := fmt.Sprint(findings)
	if *last == text {
		return false
	}
	*last = text
	return len(findings) > 0
}

// lack returns the reason why a set has no sound kind, or nil if it has one.
func (w *ruleWatch) lack(set *ruleset.Set) error {
	switch {
	case len(set.Sound()) > 0:
		return nil
	case len(set.Errors()) > 0:
		return fmt.Errorf("%s: none of the rules can be used: the log and webhookd check show why", w.rules)
	}
	return fmt.Errorf("%s: no Conversion in any file: put some there, or unset rules to serve only what is compiled in", w.rules)
}

// without returns the names of the kinds in before that are not in now.
func without(before, now []*converters.Kind) []string {
	var gone []string
	for _, b := range before {
		if !slices.ContainsFunc(now, func(n *converters.Kind) bool { return n.GroupKind == b.GroupKind }) {
			gone = append(gone, b.Name())
		}
	}
	return gone
}

const (
	refusedAtStart     = "rules have errors"
	servedWithFindings = "rules have errors, only the kinds without any are served"
	servedAsBefore     = "rules have errors with these CRDs, the kinds that were served are kept"
	lastGoodKept       = "rules cannot be used, the last good ones are kept"
)

func (w *ruleWatch) fail(findings []finding.Finding, fields ...zap.Field) {
	w.failed(lastGoodKept, nil, findings, fields...)
}

// failed counts and logs findings in a set, unless they are the same as last time. It reports
// whether it did. Findings quote rules and names of files, never an object.
func (w *ruleWatch) failed(message string, set *ruleset.Set, findings []finding.Finding, fields ...zap.Field) bool {
	failure := fmt.Sprint(message, findings)
	if failure == w.failure {
		return false
	}
	w.failure = failure
	w.counted.RulesRead(len(findings))
	w.logger.Error(message, append(fields, w.say(set, findings))...)
	return true
}

// say returns the field of a log line for findings, or prints them for people.
func (w *ruleWatch) say(set *ruleset.Set, findings []finding.Finding) zap.Field {
	if w.printer == nil || set == nil {
		return zap.Strings("findings", textsOf(findings))
	}
	said := *set
	said.Findings = findings
	w.printer(&said)
	return zap.Int("findings", len(findings))
}

// textsOf returns the texts of findings for one log line, each with its remedy.
func textsOf(findings []finding.Finding) []string {
	texts := make([]string, 0, min(len(findings), maxLoggedFindings)+1)
	for i, f := range findings {
		if i == maxLoggedFindings {
			texts = append(texts, fmt.Sprintf("and %d more", len(findings)-i))
			break
		}
		text := f.String()
		if f.Hint != "" {
			text += "; " + f.Hint
		}
		texts = append(texts, text)
	}
	return texts
}

// texts reads the files.
func (w *ruleWatch) texts(ctx context.Context) ([2][]ruleset.File, error) {
	return leaving(ctx, func() (read [2][]ruleset.File, err error) {
		var problems [2]error
		for i, key := range [...]struct{ name, path string }{{"rules", w.rules}, {"crds", w.crds}} {
			origin := ruleset.Origin{What: "them", Remedy: "mount their ConfigMap there, or set " + key.name + " to where they are"}
			if read[i], problems[i] = ruleset.Read(ctx, ruleset.ReadRegular, origin, key.path); problems[i] != nil {
				problems[i] = fmt.Errorf("%s: %w", key.name, problems[i])
			}
		}
		return read, errors.Join(problems[:]...)
	})
}
