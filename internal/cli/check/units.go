package check

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// explainUnits returns the units with more than one place, of all versions or of the conversions to
// and from one.
func explainUnits(set *ruleset.Set, version string) []check.Units {
	all := []check.Units{}
	for _, k := range set.Bound.Kinds {
		for _, u := range check.FindUnits(k) {
			if version == "" || version == u.Version || version == u.Hub {
				all = append(all, u)
			}
		}
	}
	return all
}

// writeUnits writes a block for each version with units, separated by blank lines. With apart, one
// precedes the first.
func writeUnits(w io.Writer, all []check.Units, apart bool) error {
	var text strings.Builder
	for _, e := range all {
		if len(e.Units) == 0 {
			continue
		}
		if apart || text.Len() > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "%s %s <-> %s: %s of places that belong together\n", e.CRD, e.Version, e.Hub, voice.Count(len(e.Units), "unit"))
		for i, u := range e.Units {
			if i > 0 {
				text.WriteByte('\n')
			}
			table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
			for _, version := range [2]string{e.Version, e.Hub} {
				if places := u.TextOf(version); places != "" {
					fmt.Fprintf(table, "  %s\t%s\n", version, places)
				}
				if reads := u.ReadsOf(version); reads != "" {
					fmt.Fprintf(table, "  %s reads\t%s\n", version, reads)
				}
			}
			for i, why := range u.Why {
				fmt.Fprintf(table, "  %s\t%s\n", []string{"because", ""}[min(i, 1)], why)
			}
			if err := table.Flush(); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
