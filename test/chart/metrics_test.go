package chart_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/crdconvert/webhookd/test/chart"
)

// A metric of docs/reference/metrics.md or of another program.
type metric struct {
	kind   string
	labels []string
}

// knownMetrics returns the metrics in webhookd's reference, and those of other programs that the
// chart uses.
func knownMetrics(t *testing.T) map[string]metric {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	conversions := metric{"histogram", []string{"crd_name", "from_version", "to_version", "succeeded"}}
	all := map[string]metric{
		"apiserver_crd_conversion_webhook_duration_seconds": conversions,
		"apiserver_request_total":                           {"counter", []string{"verb", "code", "group", "version", "resource"}},
		"process_resident_memory_bytes":                     {kind: "gauge"},
		"process_cpu_seconds_total":                         {kind: "counter"},
		"go_goroutines":                                     {kind: "gauge"},
		"go_gc_duration_seconds":                            {kind: "histogram"}, // a summary; the chart uses its sum
	}
	line := regexp.MustCompile("(?m)^- `(\\w+)` \\((\\w+)(?: by (.*?))?\\): ")
	for _, match := range line.FindAllStringSubmatch(string(text), -1) {
		all[match[1]] = metric{match[2], strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(match[3]))}
	}
	return all
}

// query checks that an expression parses and uses only existing metrics and labels, and counters
// only in rate or increase, or to see whether they are new.
func query(t *testing.T, known map[string]metric, expression string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return
	}
	allowed := []string{"namespace", "job", "pod", "instance", "le", "__name__"}
	parser.Inspect(parsed, func(node parser.Node, path []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		name := selector.Name
		m, found := known[name]
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if base := strings.TrimSuffix(name, suffix); !found && known[base].kind == "histogram" {
				m, found = metric{"counter", known[base].labels}, true
			}
		}
		if !found {
			t.Errorf("no such metric: %s in %s", name, expression)
		}
		allowed = append(allowed, m.labels...)
		for _, matcher := range selector.LabelMatchers {
			if !slices.Contains(append(m.labels, allowed[:6]...), matcher.Name) || matcher.Type == labels.MatchRegexp && matcher.Value == "" {
				t.Errorf("%s has no label %s: %s", name, matcher.Name, expression)
			}
		}
		_, ranged := path[len(path)-1].(*parser.MatrixSelector)
		isNew := slices.ContainsFunc(path, func(n parser.Node) bool {
			binary, is := n.(*parser.BinaryExpr)
			return is && binary.Op == parser.LUNLESS
		})
		if ranged != (m.kind == "counter") && !isNew {
			t.Errorf("%s is a %s: %s", name, m.kind, expression)
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregate, is := node.(*parser.AggregateExpr); is {
			for _, label := range aggregate.Grouping {
				if !slices.Contains(allowed, label) {
					t.Errorf("no such label: %s in %s", label, expression)
				}
			}
		}
		return nil
	})
}

// An alert of a PrometheusRule.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// alerts returns the alerts of a rendering.
func alerts(t *testing.T, r chart.Rendering) []alert {
	t.Helper()
	groups, _ := chart.Get(object(t, r, "PrometheusRule", "webhookd"), []string{"spec", "groups"})
	text, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Rules []alert `json:"rules"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list[0].Rules
}

const allAlerts = "metrics: {prometheusRule: {enabled: true}}\n"

// The alerts use existing metrics, and have a summary, a description and a severity.
func TestAlerts(t *testing.T) {
	t.Parallel()
	known := knownMetrics(t)
	for _, text := range []string{allAlerts, allAlerts + crdAndRules} {
		for _, a := range alerts(t, render(t, values(t, text), nil)) {
			query(t, known, a.Expr)
			if !strings.HasPrefix(a.Alert, "Webhookd") || a.Annotations["summary"] == "" || a.Annotations["description"] == "" ||
				!strings.HasPrefix(a.Annotations["runbook_url"], "https://") || !slices.Contains([]string{"critical", "warning"}, a.Labels["severity"]) {
				t.Errorf("%s lacks a label or an annotation: %v %v", a.Alert, a.Labels, a.Annotations)
			}
			if strings.Contains(a.Expr, "$(") {
				t.Errorf("%s: not replaced: %s", a.Alert, a.Expr)
			}
		}
	}
	filtered := false
	for _, a := range alerts(t, render(t, values(t, allAlerts+crdAndRules), nil)) {
		filtered = filtered || strings.Contains(a.Expr, `succeeded="false", crd_name=~"gadgets.example.org"`)
	}
	if !filtered {
		t.Error("the alerts about kube-apiserver are about all CRDs")
	}
}

// Each alert can be disabled.
func TestAlertsCanBeDisabled(t *testing.T) {
	t.Parallel()
	all := alerts(t, render(t, values(t, allAlerts+crdAndRules), nil))
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Alert
	}
	disabled := "metrics: {prometheusRule: {enabled: true, disabled: [" + strings.Join(names, ", ") + "], additionalRules: [{alert: Own, expr: up == 0}]}}\n"
	for _, a := range alerts(t, render(t, values(t, disabled+crdAndRules), nil)) {
		if a.Alert != "Own" {
			t.Errorf("%s is there", a.Alert)
		}
	}
}

// The page that the alerts link to has a heading for each of them and no other, with its severity.
func TestEachAlertHasItsRunbook(t *testing.T) {
	t.Parallel()
	headings := regexp.MustCompile(`(?m)^## (\w+)\n\n(\w+)\.`)
	var page string
	got, want := map[string]string{}, map[string]string{}
	for _, a := range alerts(t, render(t, values(t, allAlerts+crdAndRules), nil)) {
		url, anchor, _ := strings.Cut(a.Annotations["runbook_url"], "#")
		if want := strings.ToLower(a.Alert); anchor != want {
			t.Errorf("%s links to %s", a.Alert, a.Annotations["runbook_url"])
		}
		_, page, _ = strings.Cut(url, "/blob/main/")
		want[a.Alert] = a.Labels["severity"]
	}
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range headings.FindAllStringSubmatch(string(text), -1) {
		got[m[1]] = strings.ToLower(m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-alerts +headings):\n%s", page, diff)
	}
}

// The fields of a dashboard's panel that the tests use.
type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Targets     []struct {
		RefID        string `json:"refId"`
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
	GridPos struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	} `json:"gridPos"`
}

// A board is what the tests use of the dashboard.
type board struct {
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

func readDashboard(t *testing.T) (string, board) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart.Dir, "dashboards", "webhookd.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return string(text), b
}

// labelValues splits label_values(SELECTOR, LABEL), the definition of a variable.
func labelValues(definition string) (selector, label string, found bool) {
	m := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(definition)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// The dashboard uses only existing metrics and all of webhookd's, and its panels do not overlap.
func TestDashboard(t *testing.T) {
	t.Parallel()
	text, board := readDashboard(t)
	known := knownMetrics(t)
	for _, v := range board.Templating.List {
		if selector, label, found := labelValues(v.Definition); v.Type == "query" {
			query(t, known, "count("+selector+")")
			if !found || !slices.Contains([]string{"namespace", "job"}, label) {
				t.Errorf("variable %s: %s", v.Name, v.Definition)
			}
		}
	}
	ids, room := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Type != "row" && (p.Title == "" || p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %d %q: duplicate number, or a missing field", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := room[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q overlaps %q, or is outside the page", p.Title, other)
				}
				room[[2]int{x, y}] = p.Title
			}
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.RefID == "" || refs[target.RefID] {
				t.Errorf("panel %q: refId %q is empty or not unique", p.Title, target.RefID)
			}
			refs[target.RefID] = true
			query(t, known, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "webhookd_") && !strings.Contains(text, name) {
			t.Errorf("no panel shows %s", name)
		}
	}
	configMap := object(t, render(t, values(t, "metrics: {dashboard: {enabled: true}}"), nil), "ConfigMap", "webhookd-dashboard")
	if got := at(t, configMap, "data", "webhookd.json"); strings.TrimSpace(got) != strings.TrimSpace(text) {
		t.Error("the dashboard in the ConfigMap differs from the file")
	}
}
