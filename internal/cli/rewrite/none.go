package rewrite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// maxKinds limits the kinds that a message lists.
const maxKinds = 8

// noteNone says that no file has an object of a kind that is converted, and what there is instead:
// most often the folder or the rules are not those that were meant.
func (c *rewriting) noteNone(ctx context.Context, files []target) {
	var wanted []string
	names := map[string]bool{} // of kinds, without their groups
	for _, kind := range c.Registry.Kinds() {
		if kind.Has(c.Version) && (c.Group == "" || c.Group == kind.Group) {
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
			for _, gvk := range c.ObjectKinds(file.Documents[i].JSON) {
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
	there := voice.Count(objects, "object")
	if objects > 0 {
		there += " (" + finding.Few(seen, maxKinds) + ")"
	}
	c.p.Note("no object of a converted kind (%s) in %s with %s: name the folder of its manifests, or give rules of other kinds with --rules and --crds",
		finding.Few(wanted, maxKinds), voice.Count(len(files), "file"), there)
}
