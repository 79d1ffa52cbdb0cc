package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// removePath removes from an object what a path of the API server's messages leads to
// (a.b[0].c[key]) or, if that is not there, the nearest thing around it that is. It returns the
// plain path of what it removed, "" if that is nothing. The messages do not quote names with dots:
// the longest match is the one.
func removePath(object any, path string) string {
	path = plainPath(path)
	var found tree.Part
	longest := ""
	for _, p := range tree.Parts(object) {
		var spelled strings.Builder
		for _, step := range p.Path {
			fmt.Fprintf(&spelled, ".%v", step)
		}
		text := plainPath(spelled.String()[1:])
		if (text == path || strings.HasPrefix(path, text+".")) && len(text) >= len(longest) {
			found, longest = p, text
		}
	}
	if found.Remove != nil {
		found.Remove()
	}
	return longest
}

// plainPath returns a path of the API server's messages without brackets.
func plainPath(path string) string { return strings.NewReplacer("[", ".", "]", "").Replace(path) }

// A attempt is what happened when an object was made.
type attempt struct {
	// content is a digest of the object apart from its metadata.
	content uint64
	// removed are the reasons why parts of the object were removed, and causes those why what was
	// left is not valid.
	removed, causes map[Reason]bool
}

// repair removes from an object what its schema has something against, and notes why. Reasons are
// those of earlier removals, by plain path.
func (m *attempt) repair(v *crdschema.Version, obj map[string]any, reasons map[string]Reason) (valid bool) {
	v.Prune(obj)
	v.Default(obj)
	errs := v.Validate(obj)
	m.causes = map[Reason]bool{}
	for _, err := range errs {
		reason, found := removalOf(err.Field, reasons)
		if _, n := SchemaPath(v.Root, err.Field); !found || brokenRule(n, err) != "" {
			reason = reasonOf(v, err)
		}
		m.causes[reason], m.removed[reason] = true, true
		if path := removePath(obj, err.Field); path != "" {
			reasons[path] = reason
		}
	}
	return len(errs) == 0
}

// removalOf returns the reason why something was removed at a place, or else below it: a place that
// is required or has few parts is wrong for that reason.
func removalOf(path string, reasons map[string]Reason) (reason Reason, found bool) {
	path = plainPath(path)
	if reason, found = reasons[path]; found {
		return reason, true
	}
	for _, removed := range slices.Sorted(maps.Keys(reasons)) {
		if strings.HasPrefix(removed, path+".") {
			return reasons[removed], true
		}
	}
	return reason, false
}
