package serve

import (
	"slices"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A crdCopy is webhookd's copy of a kind's CRD, which conversions of that kind use.
type crdCopy struct {
	crd *crdschema.CRD // nil for a compiled-in kind, whose Go types are the copy
	// outdated says that an object had fields that the copy lacks. Generations with the same
	// schemas share it.
	outdated *atomic.Bool
}

// copiesOf returns the CRD copies for the kinds of a registry, and the names of the kinds whose
// schemas have changed.
func copiesOf(registry *converters.Registry, ruled *ruleset.RuledKinds, before *servedRules) (copies map[*converters.Kind]*crdCopy, changed []string) {
	copies = make(map[*converters.Kind]*crdCopy)
	for _, kind := range registry.Kinds() {
		c := &crdCopy{crd: ruled.CRDs[kind.GroupKind], outdated: &atomic.Bool{}}
		if old := before.copyOf(kind); old != nil && sameSchemas(old.crd, c.crd) {
			c.outdated = old.outdated
		} else {
			changed = append(changed, kind.Name())
		}
		copies[kind] = c
	}
	return copies, changed
}

// copyOf returns the copy in this generation for a kind of another one, or nil.
func (s *servedRules) copyOf(kind *converters.Kind) *crdCopy {
	if s == nil {
		return nil
	}
	return s.copies[s.registry.Lookup(kind.GroupKind)]
}

// sameSchemas reports whether two CRDs have the same versions with the same schemas.
func sameSchemas(a, b *crdschema.CRD) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Versions, b.Versions, func(a, b *crdschema.Version) bool {
		return a.Name == b.Name && a.Root.Same(b.Root)
	})
}

// unknownFields logs that objects have fields which the kind's copy of the CRD lacks, once until
// the kind gets other schemas. It ignores reviews that began with schemas that are no longer
// served.
func (w *ruleWatch) unknownFields(kind *converters.Kind, pair review.Pair) {
	c := w.current.Load().copies[kind]
	if c == nil || !c.outdated.CompareAndSwap(false, true) {
		return
	}
	logger := w.logger.With(zap.String("kind", pair.Kind), zap.String("from", pair.From), zap.String("to", pair.To))
	if c.crd == nil {
		logger.Warn("objects have fields that the Go types of their converter lack, build webhookd with the types of the CRD")
		return
	}
	logger.Warn("objects have fields that the copy of their CRD lacks, update its file", zap.String("file", c.crd.File))
}

// outdated reports for each served kind whether objects had fields that its copy of the CRD lacks.
func (w *ruleWatch) outdated() map[string]bool {
	served := w.current.Load()
	kinds := make(map[string]bool, len(served.copies))
	for kind, c := range served.copies {
		kinds[kind.Name()] = c.outdated.Load()
	}
	return kinds
}
