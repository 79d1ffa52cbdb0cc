package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A Converter converts objects by rules and compiled-in kinds, each in a conversion review of its
// own, so that the server's checks apply. It is not safe for concurrent use.
type Converter struct {
	Set      *ruleset.Set
	Registry *converters.Registry

	reviewer  *review.Reviewer
	explained map[schema.GroupKind][]check.Direction
}

// New returns a Converter for loaded rules. It prints panics of converters to stderr.
func New(p *voice.Program, set *ruleset.Set) (*Converter, error) {
	registry, err := set.Registry()
	reviewer := review.NewReviewer(
		func() *converters.Registry { return registry },
		review.Hooks{Panicked: func(_ context.Context, r review.Panic) { PrintPanic(p, r) }})
	return &Converter{
		Set: set, Registry: registry, reviewer: reviewer,
		explained: map[schema.GroupKind][]check.Direction{},
	}, err
}

// PrintPanic prints the panic of a converter, with its stack.
func PrintPanic(p *voice.Program, r review.Panic) {
	fmt.Fprintf(p.Stderr, "webhookd: converter panicked: %s %s -> %s: %s\n%s", r.Pair.Kind, r.Pair.From, r.Pair.To, r.Type, r.Stack)
}

// Convert converts one object to a version. The error begins with what is wrong, not with the name
// of the object.
func (c *Converter) Convert(ctx context.Context, object []byte, version string) ([]byte, error) {
	_, gvk, err := manifest.ParseObject(object)
	if err != nil {
		return nil, err
	}
	kind, err := c.Kind(gvk)
	switch {
	case err != nil:
		return nil, err
	case !kind.Has(version):
		return nil, fmt.Errorf("%s: no converter to version %s, use one of %s", kind.Name(), version, strings.Join(kind.Versions, ", "))
	}
	return c.reviewer.Convert(ctx, object, schema.GroupVersion{Group: gvk.Group, Version: version}.String())
}

// Kind returns the kind of an object. The error says which kinds there are: its namesakes in other
// groups, or else all.
func (c *Converter) Kind(gvk schema.GroupVersionKind) (*converters.Kind, error) {
	gk := gvk.GroupKind()
	if kind := c.Registry.Lookup(gk); kind != nil {
		return kind, nil
	}
	if others := c.Registry.Namesakes(gk); len(others) > 0 {
		return nil, voice.Hint(fmt.Errorf("no converter for %s, only for %s", gk, strings.Join(others, ", ")), HintKind(gvk))
	}
	var names []string
	for _, kind := range c.Registry.Kinds() {
		names = append(names, kind.Name())
	}
	err := fmt.Errorf("no converter for %s, webhookd has %s", gk, cmp.Or(strings.Join(names, ", "), "none"))
	return nil, voice.Hint(err, HintKind(gvk))
}

// HintKind returns a remedy for an object of a kind without a converter.
func HintKind(gvk schema.GroupVersionKind) string {
	switch {
	case manifest.IsDefinition(gvk):
		return "this is a CRD, not an object of its kind: give CRDs with --crds"
	case gvk.GroupVersion().String() == syntax.APIVersion:
		return "these are rules, not an object: give rules with --rules"
	}
	return "give rules for other kinds with --rules and --crds"
}

// Has reports whether an object is of a kind with the goal's version, at whichever version it is.
func (c *Converter) Has(goal Goal, gvk schema.GroupVersionKind) bool {
	kind := c.Registry.Lookup(gvk.GroupKind())
	return kind != nil && (goal.Group == "" || goal.Group == gvk.Group) && kind.Has(goal.Version)
}

// leftOut returns the fields that an object leaves out and that mean something else at the version,
// and the object with those written out.
func (c *Converter) leftOut(ctx context.Context, object []byte, gvk schema.GroupVersionKind, version string) (paths []string, complete []byte, err error) {
	gk := gvk.GroupKind()
	kind, crd := c.Registry.Lookup(gk), c.Set.CRD(gk)
	if kind == nil || crd == nil {
		return nil, nil, nil // without schemas
	}
	resource, err := hold.NewResource(kind, nil, crd, nil)
	if err != nil {
		return nil, nil, err
	}
	return compare.LeftOut(ctx, resource, object, version)
}

// Few lists texts without duplicates, at most twelve of them.
func Few(texts []string) string {
	const most = 12
	texts = slices.Sorted(slices.Values(texts))
	return finding.Few(slices.Compact(texts), most)
}
