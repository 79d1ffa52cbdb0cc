package dashboard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/crdconvert/webhookd/test/dashboard"
)

// samples returns a source with series: one value for each second, from the first on.
func samples(t *testing.T, series map[string][]float64) *dashboard.Source {
	t.Helper()
	db, err := tsdb.Open(t.TempDir(), nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	from, longest := time.Unix(1_800_000_000, 0), 0
	appender := db.Appender(t.Context())
	for name, values := range series {
		of := labels.FromStrings(model.MetricNameLabel, name, "namespace", "n", "job", "j", "pod", "a", "kind", "Widget", "path", ".metadata")
		longest = max(longest, len(values))
		for i, value := range values {
			if value < 0 {
				continue // not there yet
			}
			if _, err := appender.Append(0, of, from.Add(time.Duration(i)*time.Second).UnixMilli(), value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := appender.Commit(); err != nil {
		t.Fatal(err)
	}
	return &dashboard.Source{
		Engine: promql.NewEngine(promql.EngineOpts{MaxSamples: 1000, Timeout: time.Minute}), DB: db,
		From: from, To: from.Add(time.Duration(longest-1) * time.Second), Step: time.Second, Scrape: time.Second,
	}
}

// The counters of these panels appear with the first event, which increase alone does not see.
func TestTheFirstEventShows(t *testing.T) {
	t.Parallel()
	d, err := dashboard.Parse(read(t, "deploy", "helm", "webhookd", "dashboards", "webhookd.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := samples(t, map[string][]float64{
		"webhookd_build_info":             slices.Repeat([]float64{1}, 20),
		"webhookd_handler_panics_total":   slices.Repeat([]float64{0}, 20),
		"webhookd_converter_panics_total": append(slices.Repeat([]float64{-1}, 10), slices.Repeat([]float64{1}, 10)...),
		"webhookd_guard_rejections_total": append(slices.Repeat([]float64{-1}, 10), slices.Repeat([]float64{2}, 10)...),
	})
	want := map[string]float64{"23A": 1, "24A": 2}
	d.Panels = slices.DeleteFunc(d.Panels, func(p dashboard.Panel) bool { return p.Title != "Panics" && p.Title != "Refused by the guard" })
	results, err := s.Results(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Ref == "23B" {
			continue
		}
		most := 0.0
		for _, point := range r.Series[0].Points {
			most = max(most, point.F)
		}
		if most != want[r.Ref] || r.Series[0].Points[len(r.Series[0].Points)-1].F != 0 {
			t.Errorf("query %s: %v, want %g and later 0", r.Ref, r.Series[0].Points, want[r.Ref])
		}
	}
}

func TestQueriesAreRefusedThatCanShowNothing(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`sum by (pod) (m{job="j"})`:      "",
		`sum by (kind) (rate(gone[2s]))`: "",
		`sum(m`:                          "parse error",
		`sum(n)`:                         "no such metric: n",
		`m{result='x'}`:                  "metric m has no label result",
		`sum by (to) (m)`:                "no metric in the query has a label to",
		`sum by (pod, revision) (m)`:     "",
		`there`:                          "listed as absent, but it is there: there",
		`{job='j'}`:                      "without the name of a metric",
		`m[1s:$__range]`:                 "variables without a value: __range",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			d, err := dashboard.Parse([]byte(one(strings.Replace(query, `"up"`, `"`+strings.ReplaceAll(expression, `"`, `\"`)+`"`, 1))))
			if err != nil {
				t.Fatal(err)
			}
			s := samples(t, map[string][]float64{"m": {1, 2}, "there": {1, 1}})
			s.Absent = map[string]string{"gone": "", "there": "", "revision": ""}
			_, err = s.Results(t.Context(), d)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		})
	}
}
