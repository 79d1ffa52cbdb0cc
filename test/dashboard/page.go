package dashboard

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
	"time"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// A page is what the template shows.
type page struct {
	Title, Description, Note string
	Style                    template.CSS
	Chosen                   []Choice
	From, To                 string
	Panels                   []shown
}

// A shown panel has one of the three pictures, or none without data.
type shown struct {
	Panel
	Row   bool
	Chart *chart
	Grid  *grid
	Stat  *reading
}

// reading is a panel of one value.
type reading struct{ Text, Color string }

// Page draws a dashboard as one HTML page without scripts and references, with a note below it.
func (v *View) Page(note string) ([]byte, error) {
	parsed, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, err
	}
	p := page{
		Title: v.Dashboard.Title, Description: v.Dashboard.Description, Note: note, Chosen: v.Chosen,
		Style: template.CSS(pageStyle), //nolint:gosec // a file of this package
		From:  v.From.UTC().Format(time.DateTime), To: v.To.UTC().Format(time.DateTime),
	}
	for i := range v.Panels {
		p.Panels = append(p.Panels, v.show(&v.Panels[i]))
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, p)
	return text.Bytes(), err
}

func (v *View) show(p *PanelView) shown {
	s := shown{Panel: p.Panel}
	switch p.Type {
	case row:
		s.Row = true
	case timeseries:
		s.Chart = newChart(p, v)
	case table:
		s.Grid = newGrid(p)
	case stat:
		s.Stat = newNumber(p)
	}
	return s
}

// newNumber returns the last value of the first series.
func newNumber(p *PanelView) *reading {
	for _, s := range p.series() {
		for _, point := range slices.Backward(s.Points) {
			if drawn(point.F) {
				defaults := p.FieldConfig.Defaults
				return &reading{Format(point.F, defaults.Unit, defaults.Decimals), defaults.Thresholds.color(point.F)}
			}
		}
	}
	return nil
}

// series returns those of all queries.
func (p *PanelView) series() []Series {
	var all []Series
	for _, r := range p.Results {
		all = append(all, r.Series...)
	}
	return all
}
