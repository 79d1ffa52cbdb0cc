package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// known reports whether an object is of a kind with the version, at whichever version it is.
func (c *offline) known(gvk schema.GroupVersionKind) bool {
	kind := c.registry.Lookup(gvk.GroupKind())
	return kind != nil && (c.group == "" || c.group == gvk.Group) && kind.Has(c.version)
}

// objectKinds returns the kind of a document that is an object, or those of a List's items.
func (c *offline) objectKinds(document []byte) []schema.GroupVersionKind {
	_, gvk, err := manifest.ParseObject(document)
	switch {
	case err != nil:
		return nil
	case !c.isList(gvk):
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

// maxKinds limits the kinds that a message lists.
const maxKinds = 8

// noteNone says that no file has an object of a kind that is converted, and what there is instead:
// most often the folder or the rules are not those that were meant.
func (c *rewriting) noteNone(ctx context.Context, files []target) {
	var wanted []string
	names := map[string]bool{} // of kinds, without their groups
	for _, kind := range c.registry.Kinds() {
		if kind.Has(c.version) && (c.group == "" || c.group == kind.Group) {
			wanted = append(wanted, kind.Name())
			names[kind.Kind] = true
		}
	}
	found, objects := map[schema.GroupKind]int{}, 0
	for _, t := range files {
		if ctx.Err() != nil {
			return
		}
		text, _, err := t.read()
		if err != nil {
			continue // which has been reported
		}
		file, err := parseForEdit(t.name, text)
		if err != nil {
			continue // such as a template
		}
		for i := range file.Documents {
			for _, gvk := range c.objectKinds(file.Documents[i].JSON) {
				found[gvk.GroupKind()]++
				objects++
			}
		}
	}
	// Kinds of the same name in another group come first: perhaps they are meant.
	kinds := slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupKind) int {
		if names[a.Kind] != names[b.Kind] {
			if names[a.Kind] {
				return -1
			}
			return 1
		}
		return cmp.Or(found[b]-found[a], strings.Compare(a.String(), b.String()))
	})
	seen := make([]string, len(kinds))
	for i, kind := range kinds {
		seen[i] = fmt.Sprintf("%d %s", found[kind], kind)
	}
	there := count(objects, "object")
	if objects > 0 {
		there += " (" + finding.Few(seen, maxKinds) + ")"
	}
	c.p.note("no object of a converted kind (%s) in %s with %s: name the folder of its manifests, or give rules of other kinds with --rules and --crds",
		finding.Few(wanted, maxKinds), count(len(files), "file"), there)
}
