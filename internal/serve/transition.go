package serve

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A transition follows from which earlier rules other replicas may convert objects. Replicas get
// new rules within a minute or so. Until period has passed, some may know only the earlier ones.
// After that all know both, but until period has passed once more, some still use both.
type transition struct {
	period  time.Duration // 0: there is none
	set     *ruleset.Set  // that is served
	kinds   ruleset.RuledKinds
	earlier []earlierRules // the oldest first
	stage   [2]int         // how many of them are before and known
}

// earlierRules are rules until a time. Fixed says that they are those of a file with transitional
// rules, which other replicas may know as long as the file has them.
type earlierRules struct {
	rules *ruleset.Rules
	until time.Time
	fixed bool
}

// to begins a transition to a set.
func (t *transition) to(set *ruleset.Set, now time.Time) {
	was := t.set
	if t.set = set; t.period == 0 {
		return
	}
	t.earlier = slices.DeleteFunc(t.earlier, func(e earlierRules) bool { return e.fixed || now.Sub(e.until) >= 2*t.period })
	if was != nil {
		if all, _ := was.Rules(); all != nil {
			t.earlier = append(t.earlier, earlierRules{rules: all, until: now})
		}
	}
	if _, without := set.Rules(); without != nil {
		t.earlier = append(t.earlier, earlierRules{rules: without, until: now, fixed: true})
	}
}

// sets returns the earlier rules that are all that some replicas know, and those that all know.
func (t *transition) sets(now time.Time) (before, known []*ruleset.Rules) {
	for _, e := range t.earlier {
		switch age := now.Sub(e.until); {
		case age < t.period:
			before = append(before, e.rules)
		case age < 2*t.period || e.fixed:
			known = append(known, e.rules)
		}
	}
	return before, known
}

// during returns kinds of the set that is served as they are converted now.
func (t *transition) during(ctx context.Context, kinds ruleset.RuledKinds, now time.Time) ruleset.RuledKinds {
	before, known := t.sets(now)
	t.kinds, t.stage = kinds, [2]int{len(before), len(known)}
	if t.set == nil {
		return kinds
	}
	return t.set.During(ctx, kinds, before, known)
}

// advance serves the kinds of the next stage of a transition when it is due.
func (w *ruleWatch) advance(ctx context.Context) {
	now := time.Now()
	before, known := w.transition.sets(now)
	if w.transition.stage == [2]int{len(before), len(known)} {
		return
	}
	next := *w.current.Load()
	next.ruled = w.transition.during(ctx, w.transition.kinds, now)
	if ctx.Err() != nil {
		return
	}
	if _, err := w.swap(&next); err != nil {
		w.logger.Error("the transition of rules does not go on", zap.Error(err))
		return
	}
	if len(before)+len(known) == 0 {
		w.transition.earlier = nil
		w.logger.Info("earlier rules are no longer used")
	}
}
