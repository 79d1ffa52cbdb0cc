package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// rulesPoll is the time between two readings of the rules and CRDs. Their content is compared, so that it makes no
// difference whether a ConfigMap's link was swapped or a file edited.
const rulesPoll = 5 * time.Second

// maxLoggedFindings bounds the findings in one line of the log.
const maxLoggedFindings = 20

// A ruleWatch follows the files of rules and CRDs, and swaps the registry whole where a change is sound. Where it is not,
// the last good registry stays. At the start, when there is no such, it serves all kinds that can be converted, whatever the
// checker says: a mistake in the rules of one kind must not make others unreadable.
type ruleWatch struct {
	rules, crds string // paths; empty: only what is compiled in
	logger      *zap.Logger
	counted     ruleCounts
	current     atomic.Pointer[converters.Registry]

	read    [2][]textFile // that were looked at last
	failure string        // that was told last
}

// ruleCounts are what metrics tell of rules.
type ruleCounts interface {
	RulesRead(findings int)
	RulesServed(kinds int)
}

// openRules returns a watch with the registry that the files make. It fails where they cannot be read.
func openRules(c config.Config, logger *zap.Logger, counted ruleCounts) (*ruleWatch, error) {
	w := &ruleWatch{rules: c.Rules, crds: c.CRDs, logger: logger, counted: counted}
	var set ruleSet
	if w.rules != "" {
		var err error
		if w.read, err = w.texts(); err != nil {
			return nil, err
		}
		if set, err = loadRules(w.read[0], w.read[1]); err != nil {
			return nil, err
		}
		w.counted.RulesRead(len(set.findings))
		w.counted.RulesServed(len(set.kinds))
	}
	registry, err := newRegistry(set.kinds)
	if err != nil {
		return nil, err
	}
	if len(set.findings) > 0 {
		w.tell("rules have findings, only the kinds that can be converted are served", set.findings)
	}
	w.current.Store(registry)
	return w, nil
}

// registry returns what is to be served now.
func (w *ruleWatch) registry() *converters.Registry { return w.current.Load() }

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
			w.look()
		}
	}
}

// look reads the files and tells, once, what has become of them.
func (w *ruleWatch) look() {
	read, err := w.texts()
	if err != nil {
		w.read = [2][]textFile{} // so that the next ones are other ones
		w.fail([]finding.Finding{{Message: err.Error()}})
		return
	}
	if sameTexts(read[0], w.read[0]) && sameTexts(read[1], w.read[1]) {
		return
	}
	w.read = read
	set, err := loadRules(read[0], read[1])
	if err != nil {
		w.fail([]finding.Finding{{Message: err.Error()}})
		return
	}
	if len(set.findings) > 0 {
		w.fail(set.findings)
		return
	}
	registry, err := newRegistry(set.kinds)
	if err != nil {
		w.fail([]finding.Finding{{Message: err.Error()}})
		return
	}
	w.failure = ""
	w.current.Store(registry)
	w.counted.RulesRead(0)
	w.counted.RulesServed(len(set.kinds))
	w.logger.Info("rules loaded", zap.Array("kinds", kinds(registry.Kinds())))
}

func (w *ruleWatch) fail(findings []finding.Finding) {
	failure := fmt.Sprint(findings)
	if failure == w.failure {
		return
	}
	w.failure = failure
	w.counted.RulesRead(len(findings))
	w.tell("rules cannot be used, the last good ones are kept", findings)
}

// tell logs findings. They quote rules and names of files, never an object.
func (w *ruleWatch) tell(message string, findings []finding.Finding) {
	texts := make([]string, 0, min(len(findings), maxLoggedFindings)+1)
	for i, f := range findings {
		if i == maxLoggedFindings {
			texts = append(texts, fmt.Sprintf("and %d more", len(findings)-i))
			break
		}
		texts = append(texts, f.String())
	}
	w.logger.Error(message, zap.Strings("findings", texts))
}

func (w *ruleWatch) texts() ([2][]textFile, error) {
	ruleFiles, ruleErr := readTexts(w.rules)
	crdFiles, crdErr := readTexts(w.crds)
	if ruleErr != nil {
		ruleErr = fmt.Errorf("rules: %w", ruleErr)
	}
	if crdErr != nil {
		crdErr = fmt.Errorf("crds: %w", crdErr)
	}
	return [2][]textFile{ruleFiles, crdFiles}, errors.Join(ruleErr, crdErr)
}
