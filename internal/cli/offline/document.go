package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// An Item is an object of a document, and what becomes of it.
type Item struct {
	At     string                  // items[3]: in a List, or empty
	Type   schema.GroupVersionKind // before the conversion
	Before []byte
	After  []byte // nil if it stays as it is
	// LeftOut are the paths, with the version first, of fields that are not written out although
	// their defaults mean something else at the goal's version.
	LeftOut []string
}

// Document converts an object, or each object of a List. It returns the text of the document, and
// the objects in it. The error joins one for each object that cannot be converted. With goal.Others
// a document that is no object has no items and stays as it is.
func (c *Converter) Document(ctx context.Context, text []byte, goal Goal) ([]byte, []Item, error) {
	object, gvk, err := manifest.ParseObject(text)
	switch {
	case err != nil && goal.Others:
		return text, nil, nil
	case err != nil:
		return nil, nil, err
	case c.isList(gvk):
		return c.list(ctx, object, gvk, goal)
	}
	item := Item{Type: gvk, Before: text}
	after, err := c.item(ctx, &item, goal)
	return after, []Item{item}, err
}

// isList reports whether the object is a v1 List, as kubectl writes it, or the list of a registered
// kind. Other objects may have a field named items.
func (c *Converter) isList(gvk schema.GroupVersionKind) bool {
	if gvk == (schema.GroupVersionKind{Version: "v1", Kind: "List"}) {
		return true
	}
	return strings.HasSuffix(gvk.Kind, "List") && c.Registry.Lookup(gvk.GroupKind()) == nil && c.Registry.Lookup(elementOf(gvk).GroupKind()) != nil
}

// elementOf returns the type of the items of a list.
func elementOf(list schema.GroupVersionKind) schema.GroupVersionKind {
	list.Kind = strings.TrimSuffix(list.Kind, "List")
	return list
}

// list converts the items of a List in place.
func (c *Converter) list(ctx context.Context, list *jsondoc.Object, gvk schema.GroupVersionKind, goal Goal) ([]byte, []Item, error) {
	node, err := list.Get("items")
	if err != nil {
		return nil, nil, err
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(node.Text(), &texts); err != nil {
		return nil, nil, errors.New("a List without a list of items: .items")
	}
	var items []Item
	var problems []error
	results := make([][]byte, len(texts))
	for i, text := range texts {
		item := Item{At: fmt.Sprintf("items[%d]: ", i), Before: text}
		_, item.Type, err = manifest.ParseObject(text)
		switch {
		case err == nil:
			results[i], err = c.item(ctx, &item, goal)
			items = append(items, item)
		case goal.Others: // whatever it is, it stays
			results[i], err = text, nil
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s%w", item.At, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, items, err
	}
	if element := elementOf(gvk); gvk.Group != "" && (!goal.Others || c.Has(goal, element) && element.Version != goal.Version) {
		target := schema.GroupVersion{Group: gvk.Group, Version: goal.Version}
		if err := list.Set(jsondoc.StringValue(target.String()), "apiVersion"); err != nil {
			return nil, nil, err
		}
	}
	value, err := jsondoc.RawValue(fmt.Appendf(nil, "[%s]", bytes.Join(results, []byte(","))))
	if err == nil {
		err = list.Set(value, "items")
	}
	return list.Text(), items, err
}

// item converts one object, and returns its text.
func (c *Converter) item(ctx context.Context, item *Item, goal Goal) ([]byte, error) {
	text, gvk := item.Before, item.Type
	switch {
	case goal.Others && (!c.Has(goal, gvk) || gvk.Version == goal.Version):
		return text, nil
	case goal.Group != "" && goal.Group != gvk.Group && c.Registry.Lookup(gvk.GroupKind()) != nil:
		return nil, fmt.Errorf("%s: group of the object differs from that of --to, which may be the version alone", gvk.GroupKind())
	case goal.Defaults != defaultsIgnore:
		paths, complete, err := c.leftOut(ctx, text, gvk, goal.Version)
		switch {
		case err != nil:
			return nil, err
		case len(paths) > 0 && goal.Defaults == defaultsWrite:
			text = complete
		default:
			for _, path := range paths {
				item.LeftOut = append(item.LeftOut, gvk.Version+" "+path)
			}
		}
	}
	after, err := c.Convert(ctx, text, goal.Version)
	if err != nil {
		return nil, err
	}
	item.After = after
	if goal.Discard {
		if places, _ := item.Kept(); len(places) > 0 {
			after, _, err = Strip(after)
		}
	}
	return after, err
}

// LeftOut returns what the items of a document leave out.
func LeftOut(items []Item) []string {
	var paths []string
	for i := range items {
		paths = append(paths, items[i].LeftOut...)
	}
	return paths
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

// NameOf returns NAMESPACE/NAME of an object, or its name if it has no namespace.
func NameOf(object []byte) string {
	var of struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(object, &of) // it has been parsed
	return strings.TrimPrefix(of.Metadata.Namespace+"/"+of.Metadata.Name, "/")
}

// The values of --defaults.
const (
	defaultsWrite  = "write"
	defaultsIgnore = "ignore"
)

// A Goal is what the objects of documents are converted to.
type Goal struct {
	Group, Version string // Group may be empty
	// Defaults is what happens to fields that a document leaves out and whose defaults mean
	// something else at the version: "write" writes them out. "ignore" is for patches: they leave
	// such fields, and those that rules have defaults for, to what they are applied to.
	Defaults string
	// Others leaves objects alone that are at the version, or whose kind does not have it. Without
	// it, the latter are errors.
	Others bool
	// Discard leaves out the values that the version cannot express.
	Discard bool
}

// OfPatches returns the goal for patches.
func (g Goal) OfPatches() Goal {
	g.Defaults = defaultsIgnore
	return g
}

// Set returns the set as its kinds are converted to the goal.
func (g Goal) Set(set *ruleset.Set) *ruleset.Set {
	if g.Defaults == defaultsIgnore {
		return set.OfPatches()
	}
	return set
}

// GoalFlags say which objects are converted, and to what. They are the same for all verbs that
// convert files.
type GoalFlags struct {
	Files         []string
	To            string
	Ruled         Flags
	Defaults      string
	Diff, Verbose bool
}

// Add adds the flags. The usage of --filename is the verb's own.
func (g *GoalFlags) Add(cmd *cobra.Command, files string) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&g.Files, "filename", "f", nil, files+"; may be given more than once")
	voice.FilesAfter(cmd, "filename")
	flags.StringVar(&g.To, "to", "", "`version` to convert to: v1, or example.com/v1 for objects of that group only")
	g.Ruled.Add(flags)
	flags.StringVar(&g.Defaults, "defaults", "", "`choice`: write fields that a file leaves out and whose defaults mean something else at the\nversion, or ignore them and the defaults of rules, for patches (default: name them)")
	voice.Offer(cmd, "defaults", defaultsWrite, defaultsIgnore)
	flags.BoolVar(&g.Diff, "diff", false, "print a unified diff instead of the result")
	flags.BoolVarP(&g.Verbose, "verbose", "v", false, "say which values are kept in annotations, and which ones rules drop")
}

// Goal returns the goal of the flags.
func (g *GoalFlags) Goal() Goal {
	goal := Goal{Version: g.To, Defaults: g.Defaults}
	if group, version, ok := strings.Cut(g.To, "/"); ok {
		goal.Group, goal.Version = group, version
	}
	return goal
}

// Check reports what is wrong with the flags. Without needed, --to may be left out.
func (g *GoalFlags) Check(needed bool) error {
	wrong := g.To != "" && len(validation.IsDNS1035Label(g.Goal().Version)) > 0 || strings.HasPrefix(g.To, "/")
	return errors.Join(
		voice.Problem(g.Defaults != "" && g.Defaults != defaultsWrite && g.Defaults != defaultsIgnore,
			"--defaults %s: not a choice, give %s or %s", g.Defaults, defaultsWrite, defaultsIgnore),
		voice.Problem(needed && g.To == "", "no version to convert to: give one with --to, such as v1"),
		voice.Problem(!needed && g.To == "" && (len(g.Ruled.Rules) > 0 || len(g.Ruled.CRDs) > 0 || g.Defaults != ""),
			"--rules, --crds and --defaults: of no use without --to"),
		voice.Problem(wrong, "--to %q: not a version: write VERSION or GROUP/VERSION", g.To),
		g.Ruled.Check(g.Files...))
}
