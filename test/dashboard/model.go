package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Dashboard is Grafana's JSON model of a dashboard, as far as the chart's one uses it. Fields of
// type any have no effect on the page.
type Dashboard struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Templating  struct {
		List []Variable `json:"list"`
	} `json:"templating"`
	Panels []Panel `json:"panels"`

	UID           any   `json:"uid"`
	Tags          any   `json:"tags"`
	SchemaVersion any   `json:"schemaVersion"`
	Version       any   `json:"version"`
	Editable      any   `json:"editable"`
	GraphTooltip  any   `json:"graphTooltip"`
	Refresh       any   `json:"refresh"`
	Time          any   `json:"time"`
	Timezone      any   `json:"timezone"`
	Annotations   lists `json:"annotations"`
}

type lists struct {
	List []any `json:"list"`
}

// A Panel is a row of the page or a picture of its queries.
type Panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"` // one of panelTypes
	Title       string      `json:"title"`
	Description string      `json:"description"`
	GridPos     GridPos     `json:"gridPos"`
	FieldConfig FieldConfig `json:"fieldConfig"`
	Options     Options     `json:"options"`
	Targets     []Target    `json:"targets"`

	Transformations []Transformation `json:"transformations"`

	Datasource any   `json:"datasource"`
	Collapsed  bool  `json:"collapsed"` // of a row; must be false
	Panels     []any `json:"panels"`    // of a collapsed row
}

// GridPos is a panel's place on a grid of 24 columns.
type GridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// Line and Column count from 1, as CSS does.
func (g GridPos) Line() int { return g.Y + 1 }

// Column is the first one.
func (g GridPos) Column() int { return g.X + 1 }

// FieldConfig says how values look.
type FieldConfig struct {
	Defaults struct {
		Unit       string      `json:"unit"`
		Decimals   *int        `json:"decimals"`
		Min        *float64    `json:"min"`
		Max        *float64    `json:"max"`
		Thresholds *Thresholds `json:"thresholds"`
		Custom     struct {
			FillOpacity int    `json:"fillOpacity"` // percent
			ShowPoints  string `json:"showPoints"`
		} `json:"custom"`
	} `json:"defaults"`
	Overrides []any `json:"overrides"`
}

// Thresholds colour a value by the last step that it reaches.
type Thresholds struct {
	Mode  string `json:"mode"`
	Steps []struct {
		Color string   `json:"color"`
		Value *float64 `json:"value"` // null: below all others
	} `json:"steps"`
}

// Options are those of a panel's type.
type Options struct {
	ReduceOptions struct {
		Calcs []string `json:"calcs"`
	} `json:"reduceOptions"`
	ColorMode string `json:"colorMode"`
	GraphMode string `json:"graphMode"`
	Legend    struct {
		DisplayMode string `json:"displayMode"`
		Placement   string `json:"placement"`
	} `json:"legend"`
	Tooltip any `json:"tooltip"`
}

// A Target is a query of a panel.
type Target struct {
	RefID        string `json:"refId"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Instant      bool   `json:"instant"`
	Format       string `json:"format"`
	Datasource   any    `json:"datasource"`
	Range        any    `json:"range"`
}

// A Transformation changes the columns of a table.
type Transformation struct {
	ID      string `json:"id"`
	Options struct {
		ExcludeByName map[string]bool   `json:"excludeByName"`
		IndexByName   map[string]int    `json:"indexByName"`
		RenameByName  map[string]string `json:"renameByName"`
	} `json:"options"`
}

// The types of panels that the page can show.
const (
	row        = "row"
	stat       = "stat"
	timeseries = "timeseries"
	table      = "table"
)

// Parse reads Grafana's JSON. It returns an error for each field, type, unit and option that the
// page would not honour.
func Parse(text []byte) (*Dashboard, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	d := &Dashboard{}
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	if len(d.Panels) == 0 || len(d.Annotations.List) > 0 {
		return nil, errors.New("dashboard: no panels, or annotations")
	}
	var problems []error
	for i := range d.Panels {
		if err := d.Panels[i].check(); err != nil {
			problems = append(problems, fmt.Errorf("panel %d %q: %w", d.Panels[i].ID, d.Panels[i].Title, err))
		}
	}
	return d, errors.Join(problems...)
}

func (p *Panel) check() error {
	if p.Type == row {
		if p.Collapsed || len(p.Panels) > 0 {
			return errors.New("a collapsed row is not supported")
		}
		return nil
	}
	var problems []error
	unless := func(is bool, format string, args ...any) {
		if !is {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	defaults, o := p.FieldConfig.Defaults, p.Options
	unless(slices.Contains([]string{stat, timeseries, table}, p.Type), "type %q is not supported", p.Type)
	unless(knownUnit(defaults.Unit), "unit %q is not supported", defaults.Unit)
	unless(len(p.FieldConfig.Overrides) == 0, "overrides are not supported")
	unless(p.Type == timeseries || defaults.Custom.FillOpacity == 0, "fillOpacity is for timeseries")
	unless(p.Type != timeseries || defaults.Custom.ShowPoints == "never", "showPoints must be never")
	unless(p.Type == stat || defaults.Thresholds == nil, "thresholds are for stat")
	unless(p.Type != stat || defaults.Thresholds != nil, "without thresholds Grafana shows values from 80 on in red")
	unless(p.Type != timeseries || o.Legend.DisplayMode == "list" && o.Legend.Placement == "bottom", "the legend must be a list at the bottom")
	unless(p.Type != stat || slices.Equal(o.ReduceOptions.Calcs, []string{"lastNotNull"}), "calcs must be lastNotNull")
	unless(p.Type != stat || o.ColorMode == "value" && o.GraphMode == "none", "colorMode must be value and graphMode none")
	unless(len(p.Transformations) == 0 || p.Type == table, "transformations are for tables")
	for _, t := range p.Transformations {
		unless(t.ID == "organize", "transformation %q is not supported", t.ID)
	}
	problems = append(problems, defaults.Thresholds.check())
	unless(len(p.Targets) > 0, "no queries")
	refs := map[string]bool{}
	for _, t := range p.Targets {
		unless(t.RefID != "" && !refs[t.RefID], "refId %q is empty or not unique", t.RefID)
		refs[t.RefID] = true
		unless((p.Type == table) == (t.Instant && t.Format == table), "query %s: instant queries of format table are for tables", t.RefID)
	}
	return errors.Join(problems...)
}

func (t *Thresholds) check() error {
	if t == nil {
		return nil
	}
	if t.Mode != "absolute" || len(t.Steps) == 0 || t.Steps[0].Value != nil {
		return errors.New("thresholds must be absolute and begin with the value null")
	}
	last := math.Inf(-1)
	for _, s := range t.Steps {
		if _, known := themeColors()[s.Color]; !known {
			return fmt.Errorf("color %q is not supported", s.Color)
		}
		if s.Value != nil {
			if *s.Value <= last {
				return errors.New("thresholds must increase")
			}
			last = *s.Value
		}
	}
	return nil
}
