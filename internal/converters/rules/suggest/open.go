package suggest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// openPlaces returns the places that lose values by the rules of a Conversion, as webhookd check
// reports them: a line for each, by the versions other than the hub.
func openPlaces(ctx context.Context, text []byte, crd *crdschema.CRD) (map[string][]string, error) {
	env, err := transform.NewEnv(nil)
	if err != nil {
		return nil, fmt.Errorf("expressions cannot be compiled: %w", err)
	}
	file, _ := syntax.Parse("", text)
	open := map[string][]string{}
	for _, k := range binding.Bind(ctx, file.Conversions, []*crdschema.CRD{crd}, binding.Options{Env: env}).Kinds {
		for _, d := range check.Explain(k) {
			spoke := d.From
			if spoke == k.Hub.Name {
				spoke = d.To
			}
			open[spoke] = append(open[spoke], linesOf(d, crd)...)
		}
	}
	return open, nil
}

// linesOf describes the outermost places that lose values in one direction.
func linesOf(d check.Direction, crd *crdschema.CRD) []string {
	var lines []string
	var outer []string
	for _, a := range d.Atoms {
		if a.Class != check.Unmapped || slices.ContainsFunc(outer, func(o string) bool { return isBelow(a.Path, o) }) {
			continue
		}
		if outer = append(outer, a.Path); a.Kind == check.Unknown {
			lines = append(lines, fmt.Sprintf("%s: fields of %s that the schema does not name", d.From, a.Path))
			continue
		}
		here, there := kindAt(crd.Version(d.From), a.Path), kindAt(crd.Version(d.To), a.Path)
		line := fmt.Sprintf("%s: %s, %s", d.From, a.Path, here)
		switch there {
		case crdschema.None:
		case here:
			line += ", but not the same in " + d.To
		default:
			line += fmt.Sprintf(", but %s in %s", there, d.To)
		}
		lines = append(lines, line)
	}
	return lines
}

func isBelow(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || strings.IndexAny(rest, ".[{") == 0)
}

// kindAt returns what a version has at a path.
func kindAt(v *crdschema.Version, path string) crdschema.Kind {
	p, _ := syntax.ParsePath(path) // Explain writes paths that can be read
	return binding.Place{Node: v.Root, Known: true}.Walk(p.Segments).Kind()
}
