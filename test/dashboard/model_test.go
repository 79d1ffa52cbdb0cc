package dashboard_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/dashboard"
)

// one is a dashboard of one panel, which has these members more.
func one(panel string) string {
	return `{"title": "d", "panels": [{"id": 1, "title": "p", "gridPos": {"h": 8, "w": 8, "x": 0, "y": 0}, ` + panel + `}]}`
}

const (
	lines  = `"type": "timeseries", "options": {"legend": {"displayMode": "list", "placement": "bottom"}}`
	fields = `"fieldConfig": {"defaults": {"unit": "short", "custom": {"showPoints": "never"}}}`
	query  = `"targets": [{"refId": "A", "expr": "up"}]`
	number = `"type": "stat", "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "none"}, ` + query
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a timeseries":           {one(lines + "," + fields + "," + query), ""},
		"no JSON":                {"{", "unexpected EOF"},
		"no panels":              {"{}", "no panels"},
		"an unknown field":       {one(`"type": "row", "links": []`), `unknown field "links"`},
		"a collapsed row":        {one(`"type": "row", "collapsed": true`), "collapsed row"},
		"an unknown type":        {one(`"type": "piechart",` + fields + "," + query), `type "piechart" is not supported`},
		"an unknown unit":        {one(lines + "," + strings.Replace(fields, "short", "furlongs", 1) + "," + query), `unit "furlongs" is not supported`},
		"no query":               {one(lines + "," + fields), "no queries"},
		"a refId twice":          {one(lines + "," + fields + `, "targets": [{"refId": "A"}, {"refId": "A"}]`), `refId "A"`},
		"points":                 {one(lines + "," + strings.Replace(fields, "never", "always", 1) + "," + query), "showPoints"},
		"a legend elsewhere":     {one(strings.Replace(lines, "bottom", "right", 1) + "," + fields + "," + query), "legend"},
		"a table over time":      {one(`"type": "table", "fieldConfig": {"defaults": {"unit": "short"}},` + query), "query A: instant"},
		"another transformation": {one(lines + "," + fields + "," + query + `, "transformations": [{"id": "merge"}]`), `"merge"`},
		"a stat in red from 80":  {one(number + `, "fieldConfig": {"defaults": {"unit": "short"}}`), "from 80 on in red"},
		"a first threshold": {one(number + `, "fieldConfig": {"defaults": {"unit": "short", "thresholds":
			{"mode": "absolute", "steps": [{"color": "red", "value": 1}]}}}`), "begin with the value null"},
		"thresholds out of order": {one(number + `, "fieldConfig": {"defaults": {"unit": "short", "thresholds":
			{"mode": "absolute", "steps": [{"color": "red", "value": null}, {"color": "green", "value": 2}, {"color": "blue", "value": 1}]}}}`), "must increase"},
		"an unknown color": {one(number + `, "fieldConfig": {"defaults": {"unit": "short", "thresholds":
			{"mode": "absolute", "steps": [{"color": "mauve", "value": null}]}}}`), `color "mauve"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dashboard.Parse([]byte(c.text))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
