package offline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// A Converter converts objects one by one, each in a conversion review of its own, so that the
// server's checks apply.
type Converter struct {
	Registry       *converters.Registry
	reviewer       *review.Reviewer
	Group, Version string // of --to
	LeftOut        *leftOuts
	note           func(format string, args ...any)

	// inPlace, if set, leaves objects alone that need no conversion, and gets all others before and
	// after theirs. It returns what an object becomes.
	InPlace func(ctx context.Context, before, after []byte, gvk schema.GroupVersionKind) ([]byte, error)
}

func New(p *voice.Program, registry *converters.Registry) *Converter {
	reviewer := review.NewReviewer(
		func() *converters.Registry { return registry },
		review.Hooks{Panicked: func(_ context.Context, r review.Panic) { PrintPanic(p, r) }})
	return &Converter{Registry: registry, reviewer: reviewer, note: p.Note}
}

// Input converts all documents of a file, and reports each one that fails.
func (c *Converter) Input(ctx context.Context, in manifest.File) (manifest.File, error) {
	result := manifest.File{Name: in.Name, Format: in.Format}
	var problems []error
	for i, document := range in.Documents {
		converted, err := c.Document(ctx, document)
		for _, problem := range Split(err) {
			problems = append(problems, fmt.Errorf("%s: %w", in.Describe(i), problem))
		}
		if paths := c.LeftOut.Taken(); paths != "" {
			c.note("%s: it leaves out fields whose defaults mean something else at %s; write them out with --defaults write: %s", in.Describe(i), c.Version, paths)
		}
		result.Documents = append(result.Documents, converted)
	}
	return result, errors.Join(problems...)
}

// Split returns the errors that were joined in err.
func Split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// Document converts an object, or each object of a List.
func (c *Converter) Document(ctx context.Context, text []byte) ([]byte, error) {
	object, gvk, err := manifest.ParseObject(text)
	if err != nil {
		return nil, err
	}
	if c.IsList(gvk) {
		return c.list(ctx, object, gvk)
	}
	return c.Object(ctx, text, gvk)
}

// IsList reports whether the object is a v1 List, as kubectl writes it, or the list of a registered
// kind. Other objects may have a field named items.
func (c *Converter) IsList(gvk schema.GroupVersionKind) bool {
	if gvk == (schema.GroupVersionKind{Version: "v1", Kind: "List"}) {
		return true
	}
	kind, isList := strings.CutSuffix(gvk.Kind, "List")
	return isList && c.Registry.Lookup(gvk.GroupKind()) == nil &&
		c.Registry.Lookup(schema.GroupKind{Group: gvk.Group, Kind: kind}) != nil
}

// list converts the items of a List in place.
func (c *Converter) list(ctx context.Context, list *jsondoc.Object, gvk schema.GroupVersionKind) ([]byte, error) {
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
	if gvk.Group != "" && (c.InPlace == nil || c.Wanted(schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: strings.TrimSuffix(gvk.Kind, "List")})) {
		target := schema.GroupVersion{Group: gvk.Group, Version: c.Version}
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

func (c *Converter) item(ctx context.Context, text []byte) ([]byte, error) {
	_, gvk, err := manifest.ParseObject(text)
	switch {
	case err != nil && c.InPlace != nil: // whatever it is, it stays
		return text, nil
	case err != nil:
		return nil, err
	}
	return c.Object(ctx, text, gvk)
}

// Wanted reports whether an object is to be converted: one of a kind with the version, at another
// version.
func (c *Converter) Wanted(gvk schema.GroupVersionKind) bool {
	return c.Known(gvk) && gvk.Version != c.Version
}

// Object converts one object.
func (c *Converter) Object(ctx context.Context, text []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	if c.InPlace != nil && !c.Wanted(gvk) {
		return text, nil
	}
	complete, err := c.LeftOut.complete(ctx, c, text, gvk)
	if err != nil {
		return nil, err
	}
	after, err := c.convert(ctx, complete, gvk)
	if err != nil || c.InPlace == nil {
		return after, err
	}
	return c.InPlace(ctx, text, after, gvk)
}

// convert converts one object in a review.
func (c *Converter) convert(ctx context.Context, text []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	group := c.Group
	if group == "" {
		group = gvk.Group
	}
	kind := c.Registry.Lookup(gvk.GroupKind())
	switch {
	case kind == nil:
		return nil, voice.Hint(c.NoConverter(gvk.GroupKind()), HintKind(gvk))
	case group != gvk.Group:
		return nil, fmt.Errorf("%s: group of the object differs from that of --to, which may be the version alone", gvk.GroupKind())
	case !kind.Has(c.Version):
		return nil, fmt.Errorf("%s: no converter to version %s, use one of %s", kind.Name(), c.Version, strings.Join(kind.Versions, ", "))
	}
	return c.reviewer.Convert(ctx, text, group+"/"+c.Version)
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

// NoConverter says that a kind cannot be converted, and which can: its namesakes in other groups,
// or else all.
func (c *Converter) NoConverter(gk schema.GroupKind) error {
	if others := c.Registry.Namesakes(gk); len(others) > 0 {
		return fmt.Errorf("no converter for %s, only for %s", gk, strings.Join(others, ", "))
	}
	var names []string
	for _, kind := range c.Registry.Kinds() {
		names = append(names, kind.Name())
	}
	return fmt.Errorf("no converter for %s, webhookd has %s", gk, cmp.Or(strings.Join(names, ", "), "none"))
}

// NameOf returns NAMESPACE/NAME of an object, or its name if it has no namespace.
func NameOf(object []byte) string {
	var of struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(object, &of) // the list has been decoded
	return strings.TrimPrefix(of.Metadata.Namespace+"/"+of.Metadata.Name, "/")
}

// PrintPanic prints the panic of a converter, with its stack.
func PrintPanic(p *voice.Program, r review.Panic) {
	fmt.Fprintf(p.Stderr, "webhookd: converter panicked: %s %s -> %s: %s\n%s", r.Pair.Kind, r.Pair.From, r.Pair.To, r.Type, r.Stack)
}

// MaxChanges limits what a line lists.
const MaxChanges = 12

// Known reports whether an object is of a kind with the version, at whichever version it is.
func (c *Converter) Known(gvk schema.GroupVersionKind) bool {
	kind := c.Registry.Lookup(gvk.GroupKind())
	return kind != nil && (c.Group == "" || c.Group == gvk.Group) && kind.Has(c.Version)
}

// ObjectKinds returns the kind of a document that is an object, or those of a List's items.
func (c *Converter) ObjectKinds(document []byte) []schema.GroupVersionKind {
	_, gvk, err := manifest.ParseObject(document)
	switch {
	case err != nil:
		return nil
	case !c.IsList(gvk):
		return []schema.GroupVersionKind{gvk}
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(document, &list) != nil {
		return nil
	}
	var kinds []schema.GroupVersionKind
	for _, item := range list.Items {
		if _, gvk, err := manifest.ParseObject(item); err == nil {
			kinds = append(kinds, gvk)
		}
	}
	return kinds
}
