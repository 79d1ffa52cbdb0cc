// Package prometheustest has a Prometheus for tests, which has what it is given.
package prometheustest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// A Counter is what Prometheus has of one.
type Counter struct {
	Witness string // a part of the query for its presence
	Hours   int    // of data
	Growth  []Sample
}

// A Sample has labels and a value.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Start starts a Prometheus with counters, by metric. It ends with the test.
func Start(tb testing.TB, counters map[string]Counter) *httptest.Server {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, result, kind := r.FormValue("query"), []any{}, "vector"
		for metric, c := range counters {
			switch {
			case r.URL.Path == "/api/v1/query" && strings.Contains(query, "("+metric+"{"):
				for _, sample := range c.Growth {
					result = append(result, map[string]any{"metric": sample.Labels, "value": []any{1, strconv.FormatFloat(sample.Value, 'g', -1, 64)}})
				}
			case r.URL.Path == "/api/v1/query_range" && strings.Contains(query, c.Witness):
				end, _ := strconv.ParseFloat(r.FormValue("end"), 64) // 0 is long ago
				values := []any{}
				for ago := c.Hours; ago >= 0; ago-- {
					values = append(values, []any{end - float64(ago)*3600, "1"})
				}
				kind, result = "matrix", append(result, map[string]any{"metric": map[string]string{}, "values": values})
			}
		}
		if r.URL.Path == "/api/v1/query_range" {
			kind = "matrix"
		}
		data := map[string]any{"resultType": kind, "result": result}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": data}) // the client notices
	}))
	tb.Cleanup(s.Close)
	return s
}
