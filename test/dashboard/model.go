package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Dashboard is what Grafana's JSON model of a dashboard says of queries.
type Dashboard struct {
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
	Panels []Panel `json:"panels"`
}

// A Panel has queries, or none if it is a row of the page.
type Panel struct {
	ID      int      `json:"id"`
	Type    string   `json:"type"`
	Title   string   `json:"title"`
	Targets []Target `json:"targets"`
}

// A Target is a query of a panel.
type Target struct {
	RefID        string `json:"refId"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Instant      bool   `json:"instant"`
}

// Parse reads Grafana's JSON. It fails for a panel without a query, or with two of one refId.
func Parse(text []byte) (*Dashboard, error) {
	d := &Dashboard{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	if len(d.Panels) == 0 {
		return nil, errors.New("dashboard: no panels")
	}
	var problems []error
	for _, p := range d.Panels {
		refs := map[string]bool{}
		for _, t := range p.Targets {
			if t.RefID == "" || refs[t.RefID] {
				problems = append(problems, fmt.Errorf("panel %d %q: refId %q is empty or not unique", p.ID, p.Title, t.RefID))
			}
			refs[t.RefID] = true
		}
		if len(refs) == 0 && p.Type != "row" {
			problems = append(problems, fmt.Errorf("panel %d %q: no queries", p.ID, p.Title))
		}
	}
	return d, errors.Join(problems...)
}
