package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

// The units of a version: which of its places and of the hub's belong together.
type explainedUnits struct {
	CRD     string          `json:"crd"`
	Version string          `json:"version"`
	Hub     string          `json:"hub"`
	Units   []explainedUnit `json:"units"`
}

type explainedUnit struct {
	Places []explainedPlace `json:"places"`
	Reads  []explainedPlace `json:"reads,omitempty"`
	Why    []string         `json:"why"`
	unit   check.Unit
}

type explainedPlace struct {
	Version  string `json:"version"`
	Path     string `json:"path"`
	Presence bool   `json:"presence,omitempty"`
}

// explainUnits returns the units of more than one place, of all versions or of those that are converted to and from one.
func explainUnits(set *ruleset.Set, version string) []explainedUnits {
	all := []explainedUnits{}
	for _, k := range set.Bound.Kinds {
		for _, f := range check.FindUnits(k) {
			if version != "" && version != f.Version && version != f.Hub {
				continue
			}
			e := explainedUnits{CRD: k.CRD.Name, Version: f.Version, Hub: f.Hub, Units: []explainedUnit{}}
			for _, u := range f.Units {
				e.Units = append(e.Units, explainedUnit{explainedPlaces(u.Places), explainedPlaces(u.Reads), u.Why, u})
			}
			all = append(all, e)
		}
	}
	return all
}

func explainedPlaces(places []check.UnitPlace) []explainedPlace {
	explained := make([]explainedPlace, 0, len(places))
	for _, p := range places {
		explained = append(explained, explainedPlace(p))
	}
	return explained
}

// writeUnits writes a block for each version that has any, with blank lines between them, and with one above the first if it is apart.
func writeUnits(w io.Writer, all []explainedUnits, apart bool) error {
	var text strings.Builder
	for _, e := range all {
		if len(e.Units) == 0 {
			continue
		}
		if apart || text.Len() > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "%s %s <-> %s: %s of places that belong together\n", e.CRD, e.Version, e.Hub, count(len(e.Units), "unit"))
		for i, u := range e.Units {
			if i > 0 {
				text.WriteByte('\n')
			}
			table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
			for _, version := range [2]string{e.Version, e.Hub} {
				if places := u.unit.TextOf(version); places != "" {
					fmt.Fprintf(table, "  %s\t%s\n", version, places)
				}
				if reads := u.unit.ReadsOf(version); reads != "" {
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
