package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/versionuse"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"k8s.io/apiserver/pkg/endpoints/metrics"

	"github.com/crdconvert/webhookd/test/dashboard"
)

// The row "Old versions" has the queries of crd status --prometheus.
func TestOldVersionsAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	d, err := dashboard.Parse(read(t, "deploy", "helm", "webhookd", "dashboards", "webhookd.json"))
	if err != nil {
		t.Fatal(err)
	}
	const replicas = `namespace=~"$namespace", job=~"$job"`
	want := map[string]string{
		"Converted from, 30 days":            versionuse.Objects().Growth(replicas, "30d", "kind", "from"),
		"Converted to, 30 days":              versionuse.Objects().Growth(replicas, "30d", "kind", "to"),
		"As kube-apiserver sees it, 30 days": versionuse.Calls().Growth("", "30d", "crd_name", "from_version", "to_version"),
	}
	got := map[string]string{}
	for _, p := range d.Panels {
		if _, is := want[p.Title]; is {
			got[p.Title] = p.Targets[0].Expr
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// checkVersionUse asks the real counters who uses the versions of the widgets.
func checkVersionUse(t *testing.T, s *dashboard.Source) {
	t.Helper()
	report := useOf(t, s.Engine, s.DB, versionuse.CRD{
		Name: "widgets.shop.example.com", Group: "shop.example.com", Plural: "widgets", Kind: "Widget",
		Versions: []string{"v1", "v1beta1", "v1alpha1", "v0"},
	})
	for _, d := range report.Data {
		if d.Since.IsZero() || d.Hours != 0 {
			t.Errorf("%+v", d)
		}
	}
	for _, v := range report.Versions {
		switch is := func(n *int64) bool { return n != nil && *n > 0 }; {
		case v.Requests == nil || v.CallsFrom == nil || v.CallsTo == nil || v.ObjectsFrom == nil || v.ObjectsTo == nil:
			t.Errorf("a counter is missing: %+v", v)
		case v.Name == "v0" && v.Used == versionuse.Unused:
		case v.Name == "v1" && is(v.Requests) && is(v.CallsFrom) && is(v.CallsTo) && is(v.ObjectsFrom) && is(v.ObjectsTo):
		case v.Name == "v1beta1" && is(v.CallsFrom) && is(v.CallsTo) && is(v.ObjectsFrom) && is(v.ObjectsTo):
		case v.Name == "v1alpha1" && !is(v.CallsFrom) && is(v.CallsTo) && !is(v.ObjectsFrom) && is(v.ObjectsTo):
		default:
			t.Errorf("%+v", v)
		}
	}
}

// countRequests lets kube-apiserver's own code count requests.
func countRequests(t *testing.T) {
	t.Helper()
	metrics.Register()
	for resource, group := range map[string]string{"widgets": "shop.example.com", "clusterroles": "rbac.authorization.k8s.io"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/"+group+"/v1/"+resource+"/x", http.NoBody)
		metrics.MonitorRequest(r, "GET", group, "v1", resource, "", "resource", "apiserver", false, "", http.StatusOK, 1, time.Millisecond)
	}
}

func useOf(t *testing.T, engine promql.QueryEngine, db storage.Queryable, crd versionuse.CRD) *versionuse.Report {
	t.Helper()
	server := httptest.NewServer(queryAPI(engine, db))
	t.Cleanup(server.Close)
	prometheus, err := versionuse.New(versionuse.Options{URL: server.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	report, err := prometheus.Read(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// queryAPI is the part of Prometheus' HTTP API that evaluates queries.
func queryAPI(engine promql.QueryEngine, db storage.Queryable) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := func(name string) time.Time {
			seconds, _ := strconv.ParseFloat(r.FormValue(name), 64) // 0 has no data
			return time.UnixMilli(int64(seconds * 1000))
		}
		query, err := engine.NewInstantQuery(r.Context(), db, nil, r.FormValue("query"), at("time"))
		if r.URL.Path == "/api/v1/query_range" {
			step, _ := strconv.ParseFloat(r.FormValue("step"), 64)
			query, err = engine.NewRangeQuery(r.Context(), db, nil, r.FormValue("query"), at("start"), at("end"), time.Duration(step)*time.Second)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer query.Close()
		result := query.Exec(r.Context())
		if result.Err != nil {
			http.Error(w, result.Err.Error(), http.StatusUnprocessableEntity)
			return
		}
		data := map[string]any{"resultType": result.Value.Type(), "result": result.Value}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": data}) // the client notices
	})
}

// A history is the series of a counter: its value at so many hours ago.
type history struct {
	series labels.Labels
	values map[int]float64
	until  int // hours ago
}

func TestUseIsCountedAsItWas(t *testing.T) {
	t.Parallel()
	requests := func(version, instance string) labels.Labels {
		return labels.FromStrings("__name__", "apiserver_request_total", "group", "example.com", "resource", "engines", "version", version, "instance", instance)
	}
	calls := func(from, to string) labels.Labels {
		return labels.FromStrings("__name__", "apiserver_crd_conversion_webhook_duration_seconds_count", "crd_name", "engines.example.com", "from_version", from, "to_version", to)
	}
	witness := labels.FromStrings(append([]string{"__name__", "apiserver_request_total"}, versionuse.Requests().Witness.Labels...)...)
	const month = 40 * 24
	for name, c := range map[string]struct {
		histories []history
		since     int // hours ago
		want      versionuse.Version
	}{
		"not at all": {
			[]history{{series: witness, values: map[int]float64{month: 5}}, {series: calls("v2", "v3"), values: map[int]float64{month: 5}}},
			720,
			versionuse.Version{Used: "no", Hours: 720, Requests: new(int64(0)), CallsFrom: new(int64(0)), CallsTo: new(int64(0))},
		},
		"once": {
			[]history{{series: witness, values: map[int]float64{month: 5}}, {series: requests("v1", "a"), values: map[int]float64{400: 1}}},
			720,
			versionuse.Version{Used: "yes", Requests: new(int64(1))},
		},
		"once, by an API server that ended": {
			[]history{{series: witness, values: map[int]float64{month: 5}}, {series: requests("v1", "a"), values: map[int]float64{400: 1}, until: 300}},
			720,
			versionuse.Version{Used: "yes", Requests: new(int64(1))},
		},
		"before": {
			[]history{{series: witness, values: map[int]float64{month: 5}}, {series: requests("v1", "a"), values: map[int]float64{month: 7}}},
			720,
			versionuse.Version{Used: "unknown", Requests: new(int64(0))},
		},
		"before the data begin": {
			[]history{{series: witness, values: map[int]float64{120: 5}}, {series: requests("v1", "a"), values: map[int]float64{120: 7}}},
			120,
			versionuse.Version{Used: "unknown", Requests: new(int64(0))},
		},
		"before and after a restart": {
			[]history{{series: witness, values: map[int]float64{month: 5}}, {series: requests("v1", "a"), values: map[int]float64{month: 10, 500: 14, 400: 3}}},
			720,
			versionuse.Version{Used: "yes", Requests: new(int64(7))},
		},
		"not known to a Prometheus without the API server": {
			nil, 0, versionuse.Version{Used: "unknown"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := useOf(t, promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: time.Minute}), stored(t, c.histories),
				versionuse.CRD{Name: "engines.example.com", Group: "example.com", Plural: "engines", Kind: "Engine", Versions: []string{"v1"}})
			c.want.Name = "v1"
			if diff := cmp.Diff(c.want, report.Versions[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			since := time.Now().Add(-time.Duration(c.since) * time.Hour)
			if data := report.Data[0]; data.Hours != c.since || data.Since.IsZero() != (c.since == 0) || c.since > 0 && since.Sub(data.Since).Abs() > time.Minute {
				t.Errorf("%+v, want %d hours", data, c.since)
			}
		})
	}
}

// stored returns a database with samples of each 4 minutes.
func stored(t *testing.T, histories []history) *tsdb.DB {
	t.Helper()
	options := tsdb.DefaultOptions()
	options.OutOfOrderTimeWindow = (100 * 24 * time.Hour).Milliseconds()
	db, err := tsdb.Open(t.TempDir(), nil, nil, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	now := time.Now().Add(-time.Minute) // of the last scrape
	into := db.Appender(t.Context())
	for _, h := range histories {
		value, began := 0.0, false
		for ago := 40 * 24 * time.Hour; ago >= time.Duration(h.until)*time.Hour; ago -= 4 * time.Minute {
			if next, is := h.values[int(ago/time.Hour)]; is && ago%time.Hour == 0 {
				value, began = next, true
			}
			if !began {
				continue
			}
			if _, err := into.Append(0, h.series, now.Add(-ago).UnixMilli(), value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := into.Commit(); err != nil {
		t.Fatal(err)
	}
	return db
}
