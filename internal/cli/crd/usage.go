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

// write prints the usage, if there is one.
func (u *crdUsage) write(out io.Writer) {
	if u == nil {
		return
	}
	line := statusLine(out)
	line("objects", "%d", u.Objects)
	writeUsers(line, u.Managers)
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
		line("managers", "%s: %s %s %s%s", u.Version, u.Manager, how, voice.Count(u.Objects, "object"), last)
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
