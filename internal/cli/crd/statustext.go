package crd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/cluster/migrate"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A crdStatus is what crd status says about a CRD.
type crdStatus struct {
	crdwire.Status

	// Usage says who uses the versions.
	Usage *crdUsage `json:"usage,omitempty"`
}

type crdUsage struct {
	Objects  int            `json:"objects"`
	Managers []versionsUser `json:"managers"`
}

// A versionsUser is a field manager that wrote objects at a version.
type versionsUser struct {
	Version string    `json:"version"`
	Manager string    `json:"manager"`
	Applies bool      `json:"applies"` // by server-side apply
	Objects int       `json:"objects"`
	Last    time.Time `json:"last,omitzero"`

	lost []string // see migrate.Use
}

// usageOf lists the objects of a CRD, whose managedFields say who wrote at which version.
func usageOf(ctx context.Context, p *voice.Program, api *cluster.Client, crd *crdwire.CRD) (*crdUsage, error) {
	progress := voice.NewProgress(p.Stderr, crd.Name)
	defer progress.Clear()
	survey, err := migrate.ReadSurvey(ctx, api, crd.Name, progress.Listed)
	if err != nil {
		return nil, err
	}
	return &crdUsage{Objects: survey.Objects, Managers: usersOf(survey)}, nil
}

// usersOf returns the managers in the order of versions and names.
func usersOf(y *migrate.Survey) []versionsUser {
	users := []versionsUser{}
	for version, managers := range y.Managers {
		for m, use := range managers {
			users = append(users, versionsUser{version, m.Name, m.Apply, use.Objects, use.Last, slices.Sorted(maps.Keys(use.Lost))})
		}
	}
	slices.SortFunc(users, func(a, b versionsUser) int {
		return cmp.Or(strings.Compare(a.Version, b.Version), strings.Compare(a.Manager, b.Manager), b.Objects-a.Objects)
	})
	return users
}

// writeUsers prints the managers, at most some of each version.
func writeUsers(line func(name, format string, args ...any), users []versionsUser) {
	const most, mostLost = 10, 5
	shown := map[string]int{}
	for _, u := range users {
		if shown[u.Version]++; shown[u.Version] > most {
			continue
		}
		how := "wrote"
		if u.Applies {
			how = "applied"
		}
		last := when(!u.Last.IsZero(), ", last on "+u.Last.UTC().Format(time.DateOnly))
		line("managers", "%s: %s %s %s%s", u.Version, u.Manager, how, voice.Count(u.Objects, "object"), last)
		if len(u.lost) > 0 {
			line("lost fields", "%s: %s will not own %s", u.Version, u.Manager, finding.Few(u.lost, mostLost))
		}
	}
	for _, version := range slices.Sorted(maps.Keys(shown)) {
		if more := shown[version] - most; more > 0 {
			line("managers", "%s: %d more", version, more)
		}
	}
}

// statusLine writes a line about a CRD, and no control characters of it to the terminal.
func statusLine(out io.Writer) func(name, format string, args ...any) {
	return func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-12s %s\n", name, finding.Printable(fmt.Sprintf(format, args...)))
	}
}

// write prints what crd status says about a CRD.
func (s *crdStatus) write(out io.Writer) {
	line := statusLine(out)
	fmt.Fprintf(out, "%s (%s)\n", s.Name, s.Kind)
	if s.XRD != "" {
		line("made of", "XRD %s, by Crossplane", s.XRD)
	}
	switch {
	case s.Service != "":
		line("converted by", "Service %s", s.Service)
	case s.URL != "":
		line("converted by", "%s", s.URL)
	default:
		line("converted by", "nothing: strategy %s", s.Strategy)
	}
	if len(s.ReviewVersions) > 0 {
		line("reviews", "%s", strings.Join(s.ReviewVersions, ", "))
	}
	for _, cert := range s.CABundle {
		line("trusts", "%s until %s", cert.Subject, cert.NotAfter.Format(time.RFC3339))
	}
	versions := make([]string, len(s.Versions))
	for i, v := range s.Versions {
		versions[i] = withNotes(v.Name, when(!v.Served, "not served"), when(v.Storage, "storage"),
			when(v.Stored && !v.Storage, "objects may be stored in it"), when(v.Deprecated, "deprecated"),
			when(v.Convertible != nil && !*v.Convertible, "no converter"))
	}
	line("versions", "%s", strings.Join(versions, ", "))
	for _, v := range s.Versions {
		if v.DeprecationWarning != "" {
			line("warning", "%s: %s", v.Name, v.DeprecationWarning)
		}
	}
	if s.Copy != "" {
		line("compared", "with %s", s.Copy)
	}
	if s.Served != nil && len(s.Served.Chain) > 0 {
		cert, how := s.Served.Chain[0], ", NOT verified"
		if s.Served.Verified {
			how = ", verified" + when(s.Served.Convertible, "; test reviews succeed")
		}
		line("serves", "%s until %s for %s%s", cert.Subject, cert.NotAfter.Format(time.RFC3339), s.Served.ServerName, how)
	}
	if s.Elsewhere {
		line("not judged", "it points elsewhere")
	}
	for _, note := range s.Notes {
		line("note", "%s", note)
	}
	for _, wrong := range s.Findings {
		line("WRONG", "%s", wrong)
	}
	if s.Usage != nil {
		line("objects", "%d", s.Usage.Objects)
		writeUsers(line, s.Usage.Managers)
	}
}

// withNotes adds the notes to a name that are not empty.
func withNotes(name string, notes ...string) string {
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	if len(notes) == 0 {
		return name
	}
	return name + " (" + strings.Join(notes, ", ") + ")"
}

// when returns the text if a condition holds.
func when(is bool, text string) string {
	if !is {
		return ""
	}
	return text
}
