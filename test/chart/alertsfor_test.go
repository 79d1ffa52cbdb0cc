package chart_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"
)

// An alert fires after its condition has held for as long as the table says. An alert with "once"
// must not fire: its condition ends before that.
func TestAlertsWait(t *testing.T) {
	t.Parallel()
	const own = `{namespace="conversion", job="webhookd", pod="a"`
	tests := []struct {
		alert  string
		series string        // a line each, scraped each minute
		after  time.Duration // none if it is 0 and once
		once   bool
		never  bool // its condition does not hold at all
	}{
		{alert: "WebhookdReviewsFailing", series: `webhookd_reviews_total` + own + `, kind="a", result="failed"} 0x20 0+6x80`, after: 5 * time.Minute},
		{alert: "WebhookdReviewsFailing", series: `webhookd_reviews_total` + own + `, kind="a", result="failed"} 0x20 1x80`, once: true},
		{alert: "WebhookdReviewsRejected", series: `webhookd_reviews_total` + own + `, kind="none", result="rejected"} 0x20 0+6x80`, after: 10 * time.Minute},
		{
			alert: "WebhookdSlow", after: 10 * time.Minute,
			series: `webhookd_review_duration_seconds_bucket` + own + `, le="0.1"} 0+100x20 2000+90x80` + "\n" +
				`webhookd_review_duration_seconds_bucket` + own + `, le="0.3"} 0+100x100` + "\n" +
				`webhookd_review_duration_seconds_bucket` + own + `, le="+Inf"} 0+100x100`,
		},
		{alert: "WebhookdShedding", series: `webhookd_shed_total` + own + `, reason="bytes"} 0x20 0+6x80`, after: 5 * time.Minute},
		{alert: "WebhookdShedding", series: `webhookd_shed_total` + own + `, reason="bytes"} 0x20 100x80`, once: true},
		// The clock begins at 0.
		{alert: "WebhookdCertificateExpiresSoon", series: `webhookd_certificate_not_after_timestamp_seconds` + own + `} 606000x100`, after: 15 * time.Minute},
		{alert: "WebhookdCertificateExpiresSoon", series: `webhookd_certificate_not_after_timestamp_seconds` + own + `} 606000x24 9999999x80`, once: true},
		{alert: "WebhookdCertificateReloadFailing", series: `webhookd_certificate_reload_failing` + own + `} 0x20 1x80`, after: 10 * time.Minute},
		{alert: "WebhookdRulesReloadFailing", series: `webhookd_rules_reload_failing` + own + `} 0x20 1x80`, after: 5 * time.Minute},
		{alert: "WebhookdRulesReloadFailing", series: `webhookd_rules_reload_failing` + own + `} 0x20 1x3 0x80`, once: true},
		{
			alert: "WebhookdReplicasDiffer", after: 10 * time.Minute,
			series: `webhookd_rules_info` + own + `, digest="1"} 1x100` + "\n" +
				`webhookd_rules_info` + strings.Replace(own, `"a"`, `"b"`, 1) + `, digest="1"} 1x19 stale` + "\n" +
				`webhookd_rules_info` + strings.Replace(own, `"a"`, `"b"`, 1) + `, digest="2"} _x20 1x80`,
		},
		{
			alert: "WebhookdReplicasDiffer", once: true,
			series: `webhookd_rules_info` + own + `, digest="1"} 1x19 stale` + "\n" + `webhookd_rules_info` + own + `, digest="2"} _x20 1x80` + "\n" +
				`webhookd_rules_info` + strings.Replace(own, `"a"`, `"b"`, 1) + `, digest="1"} 1x24 stale` + "\n" +
				`webhookd_rules_info` + strings.Replace(own, `"a"`, `"b"`, 1) + `, digest="2"} _x25 1x80`,
		},
		{alert: "WebhookdConfigReloadFailed", series: `webhookd_config_reloads_total` + own + `, result="failure"} 0x20 1x80`},
		{alert: "WebhookdPanics", series: `webhookd_converter_panics_total` + own + `} _x20 1x80`},
		{alert: "WebhookdPanics", series: `webhookd_handler_panics_total` + own + `} 0x20 1x80`},
		{alert: "WebhookdConversionsStuck", series: `webhookd_stuck_conversions` + own + `, kind="a"} _x20 1x80`, after: 5 * time.Minute},
		{alert: "WebhookdConversionsStuck", series: `webhookd_stuck_conversions` + own + `, kind="a"} 0x20 1x3 0x80`, once: true},
		{alert: "WebhookdGuardRejections", series: `webhookd_guard_rejections_total` + own + `, kind="a", path="b"} _x20 1x80`},
		{alert: "WebhookdKeptValuesTooLarge", series: `webhookd_kept_too_large_total` + own + `, kind="a"} 0x20 1x80`},
		{alert: "WebhookdAnnotationsNearLimit", series: `webhookd_largest_annotations_bytes` + own + `, kind="a"} 100000x20 200000x80`},
		{alert: "WebhookdCRDOutdated", series: `webhookd_crd_outdated` + own + `, kind="a"} 0x20 1x80`, after: 15 * time.Minute},
		{alert: "WebhookdCRDOutdated", series: `webhookd_crd_outdated` + own + `, kind="a"} 0x20 1x10 0x80`, once: true},
		{alert: "WebhookdReplicasLow", series: `webhookd_build_info` + own + `} 1x100`, after: 10 * time.Minute},
		{alert: "WebhookdReplicasLow", series: `webhookd_build_info` + own + `} 1x100` + "\n" + `webhookd_build_info` + strings.Replace(own, `"a"`, `"b"`, 1) + `} 1x20 _x8 1x80`, once: true},
		{alert: "WebhookdAPIServerConversionsFailing", series: `apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="gadgets.example.org", succeeded="false"} 0x20 0+6x80`, after: 5 * time.Minute},
		{
			alert: "WebhookdAPIServerConversionsSlow", after: 10 * time.Minute,
			series: `apiserver_crd_conversion_webhook_duration_seconds_bucket{crd_name="gadgets.example.org", succeeded="true", le="1"} 0+100x20 2000+90x80` + "\n" +
				`apiserver_crd_conversion_webhook_duration_seconds_bucket{crd_name="gadgets.example.org", succeeded="true", le="3"} 0+100x100` + "\n" +
				`apiserver_crd_conversion_webhook_duration_seconds_bucket{crd_name="gadgets.example.org", succeeded="true", le="+Inf"} 0+100x100`,
		},
		{
			alert: "WebhookdConversionDropped", after: 5 * time.Minute,
			series: `apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="gadgets.example.org", succeeded="true"} 0+6x20 120x80` + "\n" +
				`apiserver_request_total{verb="PUT", code="200", group="example.org", version="v1", resource="gadgets"} 0+6x100` + "\n" +
				`apiserver_request_total{verb="PUT", code="200", group="example.org", version="v2", resource="gadgets"} 0+6x100`,
		},
		{
			alert: "WebhookdConversionDropped", never: true, // the old version has been removed
			series: `apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="gadgets.example.org", succeeded="true"} 0+6x20 120x80` + "\n" +
				`apiserver_request_total{verb="PUT", code="200", group="example.org", version="v1", resource="gadgets"} 0+6x20 120x80` + "\n" +
				`apiserver_request_total{verb="PUT", code="200", group="example.org", version="v2", resource="gadgets"} 0+6x100`,
		},
	}
	untested := map[string]alert{}
	for _, a := range alerts(t, render(t, values(t, allAlerts+crdAndRules), nil)) {
		untested[a.Alert] = a
	}
	all := maps.Clone(untested)
	for i, test := range tests {
		delete(untested, test.alert)
		t.Run(fmt.Sprint(i, " ", test.alert), func(t *testing.T) {
			t.Parallel()
			held, fired := timesOf(t, all[test.alert], test.series)
			switch {
			case test.never:
				if held >= 0 {
					t.Errorf("its condition holds at %s", held)
				}
			case held < 0:
				t.Error("its condition never holds")
			case test.once && fired >= 0:
				t.Errorf("it fires %s after its condition holds, though that is over soon", fired-held)
			case !test.once && fired-held != test.after:
				t.Errorf("its condition holds at %s, it fires at %s, want %s later", held, fired, test.after)
			}
		})
	}
	if len(untested) > 0 {
		t.Errorf("no test of how long these wait: %s", slices.Sorted(maps.Keys(untested)))
	}
}

// timesOf evaluates an alert each minute, as Prometheus does. It returns how long after the start
// its condition first holds and it fires, or -1.
func timesOf(t *testing.T, a alert, series string) (held, fired time.Duration) {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(series, "\n", "\n  ")+"\n")
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(a.Expr)
	if err != nil {
		t.Fatal(err)
	}
	var hold model.Duration
	if a.For != "" {
		if hold, err = model.ParseDuration(a.For); err != nil {
			t.Fatal(err)
		}
	}
	rule := rules.NewAlertingRule(a.Alert, parsed, time.Duration(hold), 0, labels.EmptyLabels(), labels.EmptyLabels(), labels.EmptyLabels(), "", true, nil)
	group := newGroup(t, storage, rule)
	held, fired = -1, -1
	for at := time.Duration(0); at <= 95*time.Minute; at += time.Minute {
		group.Eval(t.Context(), time.Unix(0, 0).Add(at))
		if rule.LastError() != nil {
			t.Fatal(rule.LastError())
		}
		if held < 0 && rule.State() >= rules.StatePending {
			held = at
		}
		if fired < 0 && rule.State() == rules.StateFiring {
			fired = at
		}
	}
	return held, fired
}

func newGroup(t *testing.T, storage *teststorage.TestStorage, rule rules.Rule) *rules.Group {
	t.Helper()
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	return rules.NewGroup(rules.GroupOptions{
		Name: "webhookd", File: "webhookd.yaml", Interval: time.Minute, Rules: []rules.Rule{rule},
		Opts: &rules.ManagerOptions{
			Context: t.Context(), Appendable: storage, Queryable: storage, QueryFunc: rules.EngineQueryFunc(engine, storage),
			Registerer: prometheus.NewRegistry(), NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		},
	})
}
