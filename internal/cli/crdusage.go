package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/migrate"
	"github.com/crdconvert/webhookd/internal/versionuse"
)

// A crdStatus is what crd status says about a CRD.
type crdStatus struct {
	crdwire.Status

	Usage *crdUsage `json:"usage,omitempty"`
}

// A crdUsage says who uses the versions of a CRD.
type crdUsage struct {
	Objects  int            `json:"objects"`
	Managers []versionsUser `json:"managers"`
	versionuse.Count
	// Recent is what Prometheus has of the last 30 days, instead of a Count.
	Recent *versionuse.Report `json:"recent,omitempty"`
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

// usageOf asks Prometheus if there is one, and otherwise the API server for its metrics.
func (p *program) usageOf(ctx context.Context, api *cluster.Client, asked *versionuse.Prometheus, crd *crdwire.CRD) (*crdUsage, error) {
	found := &crdUsage{}
	if asked != nil {
		var err error
		if found.Recent, err = asked.Read(ctx, measured(crd)); err != nil {
			return nil, err
		}
	}
	progress := newProgress(p.stderr, crd.Name)
	defer progress.clear()
	survey, err := migrate.ReadSurvey(ctx, api, crd.Name, progress.listed)
	if err != nil {
		return nil, err
	}
	if asked == nil {
		text, err := api.Text(ctx, "/metrics")
		if err == nil {
			found.Count, err = versionuse.Scrape(text, measured(crd))
		}
		if err != nil {
			say(p.stderr, fmt.Errorf("requests and conversions are not known: %w", err), p.colored(p.stderr))
		}
	}
	found.Objects, found.Managers = survey.Objects, usersOf(survey)
	return found, nil
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

// write prints the usage, if there is one.
func (u *crdUsage) write(out io.Writer) {
	if u == nil {
		return
	}
	line := statusLine(out)
	line("objects", "%d", u.Objects)
	writeUsers(line, u.Managers)
	for _, counted := range []struct {
		name   string
		values map[string]float64
	}{{"requests", u.Requests}, {"conversions", u.Conversions}} {
		for _, of := range slices.Sorted(maps.Keys(counted.values)) {
			line(counted.name, "%s: %.0f since the API server started", of, counted.values[of])
		}
	}
	if u.Recent != nil {
		writeRecent(line, u.Recent)
	}
}

// writeUsers prints the managers, at most some of each version.
func writeUsers(line func(name, format string, args ...any), users []versionsUser) {
	const most, mostLost = 10, 5
	shown := map[string]int{}
	for _, u := range users {
		if shown[u.Version]++; shown[u.Version] > most {
			continue
		}
		how, last := "wrote", ""
		if u.Applies {
			how = "applied"
		}
		if !u.Last.IsZero() {
			last = ", last on " + u.Last.UTC().Format(time.DateOnly)
		}
		line("managers", "%s: %s %s %s%s", u.Version, u.Manager, how, count(u.Objects, "object"), last)
		if few := min(len(u.lost), mostLost); few > 0 {
			more := ""
			if few < len(u.lost) {
				more = fmt.Sprintf(" and %d more", len(u.lost)-few)
			}
			line("lost fields", "%s: %s will not own %s%s", u.Version, u.Manager, strings.Join(u.lost[:few], ", "), more)
		}
	}
	for _, version := range slices.Sorted(maps.Keys(shown)) {
		if more := shown[version] - most; more > 0 {
			line("managers", "%s: %s", version, fmt.Sprintf("%d more", more))
		}
	}
}
