package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/panics"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

// rulesPoll is the time between two readings of the rules and CRDs. Their content is compared, so that it makes no
// difference whether a ConfigMap's link was swapped or a file edited.
const rulesPoll = 5 * time.Second

// maxLoggedFindings bounds the findings in one line of the log.
const maxLoggedFindings = 20

// A ruleWatch follows the files of rules and CRDs, and swaps the registry whole where a change is sound. Where it is not,
// or where nothing is left of the rules, the last good rules stay, with the schemas on disk: rules do not go bad, but a copy of
// a CRD gets old. As long as there are none, at the start, it serves the kinds that no finding of check is about: a mistake in
// the rules of one kind must not make others unreadable.
type ruleWatch struct {
	rules, crds string // paths; empty: only what is compiled in
	compiled    ruleset.Compiled
	load        ruleset.Loader
	logger      *zap.Logger
	counted     ruleCounts
	current     atomic.Pointer[servedRules]
	reader      ruleset.Reader
	now         chan chan<- string // has run look at once, and say what has become of the files

	read    [2][]ruleset.File // that were looked at last
	failure string            // that was told last
	passed  string            // files that were told last to be passed by
}

// servedRules are one generation: a registry, what it is made of, and what it lacks: an error where there should be rules and
// none converts a kind.
type servedRules struct {
	registry *converters.Registry
	lack     error
	rules    []ruleset.File // the last good ones
	ruled    ruleset.RuledKinds
	digest   string // of ruled; empty where no rules are set
	copies   map[*converters.Kind]*crdCopy
}

// ruleCounts are what metrics tell of rules.
type ruleCounts interface {
	RulesRead(findings int)
	RulesServed(kinds int, digest string)
}

// openRules returns a watch with the registry that the files make. It fails where they cannot be read, and where ctx ends.
func openRules(ctx context.Context, c config.Config, compiled ruleset.Compiled, logger *zap.Logger, counted ruleCounts) (*ruleWatch, error) {
	w := &ruleWatch{
		rules: c.Rules, crds: c.CRDs, compiled: compiled, load: ruleset.WithoutPanics(compiled.Load), logger: logger, counted: counted,
		reader: ruleset.ReaderForServe(), now: make(chan chan<- string),
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
	if err := w.serve(&set); err != nil {
		return nil, err
	}
	return w, nil
}

// loaded is load, which it does not wait for once ctx has ended: that takes a while to look at ctx where a file is large. A panic
// is an error.
func (w *ruleWatch) loaded(ctx context.Context, ruleFiles, crdFiles []ruleset.File) (ruleset.Set, error) {
	type result struct {
		set ruleset.Set
		err error
	}
	done := make(chan result, 1)
	load := w.load
	go func() {
		var is result
		if err := panics.Survive(func() { is.set, is.err = load(ctx, ruleFiles, crdFiles) }); err != nil {
			is.err = err
		}
		done <- is
	}()
	select {
	case is := <-done:
		return is.set, is.err
	case <-ctx.Done():
		return ruleset.Set{}, ctx.Err()
	}
}

// registry returns what is to be served now.
func (w *ruleWatch) registry() *converters.Registry { return w.current.Load().registry }

// digest identifies the rules and CRDs that are served now; it is empty where no rules are set.
func (w *ruleWatch) digest() string { return w.current.Load().digest }

// ready says what a replica lacks that should get reviews. One without any kind of its rules would take the place of those
// that have them.
func (w *ruleWatch) ready() error {
	current := w.current.Load()
	if current.lack == nil && len(current.registry.Kinds()) == 0 {
		return errors.New("no converters are loaded, set rules and crds")
	}
	return current.lack
}

// run ends with ctx.
func (w *ruleWatch) run(ctx context.Context) {
	if w.rules == "" {
		return
	}
	ticker := time.NewTicker(rulesPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.look(ctx)
		case told := <-w.now:
			told <- w.look(ctx)
		}
	}
}

// What has become of files that were looked at.
const (
	filesUnchanged = "unchanged"
	filesLoaded    = "loaded"
	filesKept      = "failed"
	filesNone      = "none"
)

// lookNow has run look at the files, and returns what has become of them; nothing where ctx ends first.
func (w *ruleWatch) lookNow(ctx context.Context) string {
	if w.rules == "" {
		return filesNone
	}
	told := make(chan string, 1)
	select {
	case w.now <- told:
	case <-ctx.Done():
		return ""
	}
	select {
	case outcome := <-told:
		return outcome
	case <-ctx.Done():
		return ""
	}
}

// look reads the files and tells, once, what has become of them. A file over which a parser panics is one that cannot be
// used: all replicas read it at the same time.
func (w *ruleWatch) look(ctx context.Context) string {
	outcome := filesKept
	err := panics.Survive(func() { outcome = w.reload(ctx) })
	if err != nil {
		w.fail([]finding.Finding{{Message: err.Error()}}, StackOf(err)...)
	}
	return outcome
}

func (w *ruleWatch) reload(ctx context.Context) string {
	read, err := w.texts(ctx)
	if ctx.Err() != nil {
		return filesKept
	}
	if err != nil {
		w.read = [2][]ruleset.File{} // so that the next ones are other ones
		w.fail([]finding.Finding{{Message: err.Error()}})
		return filesKept
	}
	if ruleset.SameTexts(read[0], w.read[0]) && ruleset.SameTexts(read[1], w.read[1]) {
		if w.failure != "" {
			return filesKept
		}
		return filesUnchanged
	}
	set, err := w.loaded(ctx, read[0], read[1])
	if ctx.Err() != nil {
		return filesKept
	}
	w.read = read
	if err == nil {
		err = w.change(ctx, &set)
	}
	if err != nil && ctx.Err() == nil {
		w.fail([]finding.Finding{{Message: err.Error()}}, StackOf(err)...)
	}
	if w.failure != "" {
		return filesKept
	}
	return filesLoaded
}

// change takes a set over, or keeps the last good rules, if there have been any. That nothing is left to convert is no change
// that anybody means: a ConfigMap was deleted, or a key has another name.
func (w *ruleWatch) change(ctx context.Context, set *ruleset.Set) error {
	before := w.current.Load()
	if problems := w.problems(set); len(problems) > 0 && before.lack == nil {
		return w.keep(ctx, before, set, problems)
	}
	if err := w.serve(set); err != nil {
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

// keep goes on with the last good rules in place of those of a set with problems, and takes over its schemas, as a start with
// the same files would: what the engine does not find in a schema it takes for unknown. Kinds that the last good rules do not
// convert with these schemas are converted by the new rules, or else as they were.
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
	changed, err := w.swap(&servedRules{lack: before.lack, rules: before.rules, ruled: next})
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		w.logger.Info("schemas loaded", zap.Strings("kinds", changed), zap.String("rulesDigest", w.digest()))
	}
	if w.failed(message, problems, StackOf(set.Panicked)...) && len(left) > 0 {
		w.logger.Warn("kinds keep the schemas that they had, the CRDs on disk have none for them", zap.Strings("kinds", left))
	}
	return nil
}

// serve swaps the registry for what can be converted of a set, and tells what is wrong with the rest.
func (w *ruleWatch) serve(set *ruleset.Set) error {
	if _, err := w.swap(&servedRules{lack: w.lack(set), rules: set.Files, ruled: set.Ruled()}); err != nil {
		return err
	}
	w.tellPassed(set)
	if problems := w.problems(set); len(problems) > 0 {
		w.failed(servedWithFindings, problems, StackOf(set.Panicked)...)
		return nil
	}
	w.failure = ""
	w.counted.RulesRead(0)
	return nil
}

// swap makes the registry of a generation and serves it. It returns the names of the kinds with other schemas than before.
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

// problems are the errors in a set, and that it has no Conversion.
func (w *ruleWatch) problems(set *ruleset.Set) []finding.Finding {
	problems := set.Errors()
	if lack := w.lack(set); lack != nil && len(problems) == 0 {
		return []finding.Finding{{Message: lack.Error()}}
	}
	return problems
}

// tellPassed says, once, which files are passed by.
func (w *ruleWatch) tellPassed(set *ruleset.Set) {
	notes := ruleset.PassedNotes(set.Passed)
	passed := fmt.Sprint(notes)
	if w.passed == passed {
		return
	}
	if w.passed = passed; len(notes) > 0 {
		w.logger.Warn("files in followed folders are passed by, put files there or take them out of the folder",
			zap.Strings("files", textsOf(finding.Sort(notes))))
	}
}

// lack says why a set has no kind; nil where it has.
func (w *ruleWatch) lack(set *ruleset.Set) error {
	switch {
	case len(set.Sound()) > 0:
		return nil
	case len(set.Errors()) > 0:
		return fmt.Errorf("none of the rules can be used, the log and webhookd check say why: %s", w.rules)
	}
	return fmt.Errorf("no Conversion in any file, put some there, or unset rules to serve only what is compiled in: %s", w.rules)
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
	servedWithFindings = "rules have findings, only the kinds without any are served"
	servedAsBefore     = "rules have findings with these CRDs, the kinds that were served are kept"
	lastGoodKept       = "rules cannot be used, the last good ones are kept"
)

func (w *ruleWatch) fail(findings []finding.Finding, fields ...zap.Field) {
	w.failed(lastGoodKept, findings, fields...)
}

// failed counts and tells, once, what is wrong, and reports whether it did.
func (w *ruleWatch) failed(message string, findings []finding.Finding, fields ...zap.Field) bool {
	failure := fmt.Sprint(message, findings)
	if failure == w.failure {
		return false
	}
	w.failure = failure
	w.counted.RulesRead(len(findings))
	w.tell(message, findings, fields...)
	return true
}

// tell logs findings. They quote rules and names of files, never an object.
func (w *ruleWatch) tell(message string, findings []finding.Finding, fields ...zap.Field) {
	w.logger.Error(message, append(fields, zap.Strings("findings", textsOf(findings)))...)
}

// textsOf writes findings for a line of the log.
func textsOf(findings []finding.Finding) []string {
	texts := make([]string, 0, min(len(findings), maxLoggedFindings)+1)
	for i, f := range findings {
		if i == maxLoggedFindings {
			texts = append(texts, fmt.Sprintf("and %d more", len(findings)-i))
			break
		}
		texts = append(texts, f.String())
	}
	return texts
}

// texts reads the files. Of one that does not answer it returns what was read of it before.
func (w *ruleWatch) texts(ctx context.Context) ([2][]ruleset.File, error) {
	ruleFiles, ruleErr := ruleset.Read(ctx, w.reader, ruleset.Origin{What: "them", Remedy: "mount their ConfigMap there, or set rules to where they are"}, w.rules)
	crdFiles, crdErr := ruleset.Read(ctx, w.reader, ruleset.Origin{What: "them", Remedy: "mount their ConfigMap there, or set crds to where they are"}, w.crds)
	if ruleErr != nil {
		ruleErr = fmt.Errorf("rules: %w", ruleErr)
	}
	if crdErr != nil {
		crdErr = fmt.Errorf("crds: %w", crdErr)
	}
	for i, files := range [2][]ruleset.File{ruleFiles, crdFiles} {
		before := make(map[string][]byte, len(w.read[i]))
		for _, f := range w.read[i] {
			before[f.Name] = f.Text
		}
		for j := range files {
			if files[j].Stuck {
				files[j].Text = before[files[j].Name]
			}
		}
	}
	return [2][]ruleset.File{ruleFiles, crdFiles}, errors.Join(ruleErr, crdErr)
}
