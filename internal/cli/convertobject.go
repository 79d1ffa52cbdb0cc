package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// An offline converts objects one by one, each in a conversion review of its own, so that the
// server's checks apply.
type offline struct {
	registry       *converters.Registry
	reviewer       *review.Reviewer
	group, version string // of --to
	leftOut        *leftOuts
	note           func(format string, args ...any)

	// inPlace, if set, leaves objects alone that need no conversion, and gets all others before and
	// after theirs. It returns what an object becomes.
	inPlace func(ctx context.Context, before, after []byte, gvk schema.GroupVersionKind) ([]byte, error)
}

func newOffline(p *program, registry *converters.Registry) *offline {
	reviewer := review.NewReviewer(
		func() *converters.Registry { return registry },
		review.Hooks{Panicked: func(_ context.Context, r review.Panic) { p.printPanic(r) }})
	return &offline{registry: registry, reviewer: reviewer, note: p.note}
}

// input converts all documents of a file, and reports each one that fails.
func (c *offline) input(ctx context.Context, in manifest.File) (manifest.File, error) {
	result := manifest.File{Name: in.Name, Format: in.Format}
	var problems []error
	for i, document := range in.Documents {
		converted, err := c.document(ctx, document)
		for _, problem := range split(err) {
			problems = append(problems, fmt.Errorf("%s: %w", in.Describe(i), problem))
		}
		if paths := c.leftOut.taken(); paths != "" {
			c.note("%s: it leaves out fields whose defaults mean something else at %s; write them out with --defaults write: %s", in.Describe(i), c.version, paths)
		}
		result.Documents = append(result.Documents, converted)
	}
	return result, errors.Join(problems...)
}

// split returns the errors that were joined in err.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// document converts an object, or each object of a List.
func (c *offline) document(ctx context.Context, text []byte) ([]byte, error) {
	object, gvk, err := manifest.ParseObject(text)
	if err != nil {
		return nil, err
	}
	if c.isList(gvk) {
		return c.list(ctx, object, gvk)
	}
	return c.object(ctx, text, gvk)
}

// isList reports whether the object is a v1 List, as kubectl writes it, or the list of a registered
// kind. Other objects may have a field named items.
func (c *offline) isList(gvk schema.GroupVersionKind) bool {
	if gvk == (schema.GroupVersionKind{Version: "v1", Kind: "List"}) {
		return true
	}
	kind, isList := strings.CutSuffix(gvk.Kind, "List")
	return isList && c.registry.Lookup(gvk.GroupKind()) == nil &&
		c.registry.Lookup(schema.GroupKind{Group: gvk.Group, Kind: kind}) != nil
}

// list converts the items of a List in place.
func (c *offline) list(ctx context.Context, list *jsondoc.Object, gvk schema.GroupVersionKind) ([]byte, error) {
	node, err := list.Get("items")
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(node.Text(), &items); err != nil {
		return nil, errors.New("a List without a list of items: .items")
	}
	var problems []error
	for i, item := range items {
		converted, err := c.item(ctx, item)
		if err != nil {
			problems = append(problems, fmt.Errorf("items[%d]: %w", i, err))
			continue
		}
		items[i] = converted
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if gvk.Group != "" && (c.inPlace == nil || c.wanted(schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: strings.TrimSuffix(gvk.Kind, "List")})) {
		target := schema.GroupVersion{Group: gvk.Group, Version: c.version}
		if err := list.Set(jsondoc.StringValue(target.String()), "apiVersion"); err != nil {
			return nil, err
		}
	}
	joined := []byte("[")
	for i, item := range items {
		if i > 0 {
			joined = append(joined, ',')
		}
		joined = append(joined, item...)
	}
	value, err := jsondoc.RawValue(append(joined, ']'))
	if err != nil {
		return nil, err
	}
	if err := list.Set(value, "items"); err != nil {
		return nil, err
	}
	return list.Text(), nil
}

func (c *offline) item(ctx context.Context, text []byte) ([]byte, error) {
	_, gvk, err := manifest.ParseObject(text)
	switch {
	case err != nil && c.inPlace != nil: // whatever it is, it stays
		return text, nil
	case err != nil:
		return nil, err
	}
	return c.object(ctx, text, gvk)
}

// wanted reports whether an object is to be converted: one of a kind with the version, at another
// version.
func (c *offline) wanted(gvk schema.GroupVersionKind) bool {
	return c.known(gvk) && gvk.Version != c.version
}

// object converts one object.
func (c *offline) object(ctx context.Context, text []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	if c.inPlace != nil && !c.wanted(gvk) {
		return text, nil
	}
	complete, err := c.leftOut.complete(ctx, c, text, gvk)
	if err != nil {
		return nil, err
	}
	after, err := c.convert(ctx, complete, gvk)
	if err != nil || c.inPlace == nil {
		return after, err
	}
	return c.inPlace(ctx, text, after, gvk)
}

// convert converts one object in a review.
func (c *offline) convert(ctx context.Context, text []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	group := c.group
	if group == "" {
		group = gvk.Group
	}
	kind := c.registry.Lookup(gvk.GroupKind())
	switch {
	case kind == nil:
		return nil, hintError{c.noConverter(gvk.GroupKind()), hintKind(gvk)}
	case group != gvk.Group:
		return nil, fmt.Errorf("%s: group of the object differs from that of --to, which may be the version alone", gvk.GroupKind())
	case !kind.Has(c.version):
		return nil, fmt.Errorf("%s: no converter to version %s, use one of %s", kind.Name(), c.version, strings.Join(kind.Versions, ", "))
	}
	return c.reviewer.Convert(ctx, text, group+"/"+c.version)
}

// hintKind returns a remedy for an object of a kind without a converter.
func hintKind(gvk schema.GroupVersionKind) string {
	switch {
	case manifest.IsDefinition(gvk):
		return "this is a CRD, not an object of its kind: give CRDs with --crds"
	case gvk.GroupVersion().String() == syntax.APIVersion:
		return "these are rules, not an object: give rules with --rules"
	}
	return "give rules for other kinds with --rules and --crds"
}

// noConverter says that a kind cannot be converted, and which can: its namesakes in other groups,
// or else all.
func (c *offline) noConverter(gk schema.GroupKind) error {
	if others := c.registry.Namesakes(gk); len(others) > 0 {
		return fmt.Errorf("no converter for %s, only for %s", gk, strings.Join(others, ", "))
	}
	var names []string
	for _, kind := range c.registry.Kinds() {
		names = append(names, kind.Name())
	}
	return fmt.Errorf("no converter for %s, webhookd has %s", gk, cmp.Or(strings.Join(names, ", "), "none"))
}
