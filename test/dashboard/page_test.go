package dashboard_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/crdconvert/webhookd/test/dashboard"
)

const everyType = `{"title": "All types", "panels": [
 {"id": 1, "type": "row", "title": "Row", "gridPos": {"h": 1, "w": 24, "x": 0, "y": 0}},
 {"id": 2, "title": "Number", "gridPos": {"h": 4, "w": 4, "x": 0, "y": 1}, "type": "stat",
  "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "none"},
  "fieldConfig": {"defaults": {"unit": "s", "thresholds": {"mode": "absolute", "steps": [{"color": "green", "value": null}, {"color": "red", "value": 2}]}}},
  "targets": [{"refId": "A"}]},
 {"id": 3, "title": "Lines", "gridPos": {"h": 8, "w": 12, "x": 12, "y": 1}, "type": "timeseries",
  "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
  "fieldConfig": {"defaults": {"unit": "short", "custom": {"fillOpacity": 10, "showPoints": "never"}}},
  "targets": [{"refId": "A"}]},
 {"id": 4, "title": "Table", "gridPos": {"h": 8, "w": 12, "x": 0, "y": 9}, "type": "table", "fieldConfig": {"defaults": {"unit": "short"}},
  "transformations": [{"id": "organize", "options": {"excludeByName": {"Time": true}, "indexByName": {"kind": 0, "from": 1, "Value": 2}, "renameByName": {"Value": "objects"}}}],
  "targets": [{"refId": "A", "instant": true, "format": "table"}]},
 {"id": 5, "title": "Nothing", "gridPos": {"h": 8, "w": 12, "x": 12, "y": 9}, "type": "timeseries",
  "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
  "fieldConfig": {"defaults": {"unit": "short", "custom": {"showPoints": "never"}}},
  "targets": [{"refId": "A"}]}
]}`

func TestPage(t *testing.T) {
	t.Parallel()
	d, err := dashboard.Parse([]byte(everyType))
	if err != nil {
		t.Fatal(err)
	}
	from := time.Unix(1_800_000_000, 0)
	points := func(values ...float64) []promql.FPoint {
		var all []promql.FPoint
		for i, value := range values {
			if value >= 0 || math.IsNaN(value) {
				all = append(all, promql.FPoint{T: from.UnixMilli() + int64(i)*1000, F: value})
			}
		}
		return all
	}
	series := map[int][]dashboard.Series{
		2: {{Points: points(1, 3, math.NaN())}},
		3: {{Name: "a <b>", Points: points(0, 2, -1, 4, 4)}, {Name: "second", Points: points(1, 1, 1, 1, 1)}},
		4: {{Labels: labels.FromStrings("from", "v1", "kind", "Widget"), Points: points(1234)}},
		5: {{Points: points(math.NaN())}},
	}
	v := &dashboard.View{Dashboard: d, From: from, To: from.Add(4 * time.Second), Step: time.Second, Chosen: []dashboard.Choice{{Label: "Release", Values: []string{"x", "y"}}}}
	for _, p := range d.Panels {
		v.Panels = append(v.Panels, dashboard.PanelView{Panel: p, Results: []dashboard.Result{{Series: series[p.ID]}}})
	}
	text, err := v.Page("A note.")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for what, want := range map[string]string{
		"title, choices":                  `<h1>All types</h1> <p class="choice"><span>Release</span>x + y</p>`,
		"time":                            `2027-01-15 08:00:00 to 2027-01-15 08:00:04 UTC`,
		"place on the grid, from 1":       `<section class="timeseries" style="grid-area: 2 / 13 / span 8 / span 12">`,
		"last value that is a number":     `<p class="number" style="color: #f2495c">3 s</p>`,
		"a line with a gap":               `<path class="line" d="M0.0 1000.0L250.0 500.0M750.0 0.0L1000.0 0.0" stroke="#73bf69"/>`,
		"the area below it":               `<path d="M0.0 1000L0.0 1000.0L250.0 500.0L250.0 1000ZM750.0 1000L750.0 0.0L1000.0 0.0L1000.0 1000Z" fill="#73bf69" fill-opacity="0.1"/>`,
		"the color of the second":         `stroke="#f2cc0c"`,
		"values from the top":             `<div class="up"><span>4</span><span>3</span><span>2</span><span>1</span><span>0</span></div>`,
		"legend, escaped":                 `</svg>a &lt;b&gt;</li>`,
		"columns in their order":          `<tr><th>kind</th><th>from</th><th>objects</th></tr><tr><td>Widget</td><td>v1</td><td>1.23 K</td></tr>`,
		"a panel without a value to show": `Nothing</h2><p class="none">No data</p>`,
		"note":                            `<footer>A note.</footer>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: the page lacks %s", what, want)
		}
	}
	for _, unwanted := range []string{"ZgotmplZ", "<script", "http"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("the page has %s", unwanted)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}
