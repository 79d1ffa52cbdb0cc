package cli

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// Values of convert --defaults.
const (
	defaultsWrite  = "write"
	defaultsIgnore = "ignore"
)

// leftOuts finds fields that manifests leave out, and that mean something else at the version to
// convert to. Nil finds none.
type leftOuts struct {
	set   *ruleset.Set
	write bool     // write them out
	paths []string // those not written out, of the document at hand
}

func newLeftOuts(set *ruleset.Set, mode string) *leftOuts {
	if mode == defaultsIgnore {
		return nil
	}
	return &leftOuts{set: set, write: mode == defaultsWrite}
}

// complete returns the text to convert.
func (l *leftOuts) complete(ctx context.Context, c *offline, text []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	if l == nil {
		return text, nil
	}
	gk := gvk.GroupKind()
	kind, crd := c.registry.Lookup(gk), l.set.CRD(gk)
	if kind == nil || crd == nil {
		return text, nil // without schemas
	}
	resource, err := hold.NewResource(kind, nil, crd, nil)
	if err != nil {
		return nil, err
	}
	paths, complete, err := compare.LeftOut(ctx, resource, text, c.version)
	switch {
	case err != nil || len(paths) == 0:
		return text, err
	case l.write:
		return complete, nil
	}
	for _, path := range paths {
		l.paths = append(l.paths, gvk.Version+" "+path)
	}
	return text, nil
}

// taken returns the fields found since the last call, in words; empty if none.
func (l *leftOuts) taken() string {
	if l == nil || len(l.paths) == 0 {
		return ""
	}
	slices.Sort(l.paths)
	text := finding.Few(slices.Compact(l.paths), maxChanges)
	l.paths = nil
	return text
}

// checkDefaults reports a wrong value of --defaults.
func checkDefaults(mode string) error {
	if mode != "" && mode != defaultsWrite && mode != defaultsIgnore {
		return fmt.Errorf("--defaults %s: not a choice, give %s or %s", mode, defaultsWrite, defaultsIgnore)
	}
	return nil
}
