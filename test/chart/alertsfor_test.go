package chart_test

import (
	"context"
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

// A condition that ends before its alert's time fires nothing. How long that is, is in the golden
// files; that the condition holds when it should, in alerts.promql.
func TestShortEventsFireNothing(t *testing.T) {
	t.Parallel()
	const own, other = `{namespace="conversion", job="webhookd", pod="a"`, `{namespace="conversion", job="webhookd", pod="b"`
	all := map[string]alert{}
	for _, a := range alerts(t, render(t, values(t, allAlerts+crdAndRules), nil)) {
		all[a.Alert] = a
	}
	for name, series := range map[string]string{ // a line each, scraped each minute
		"WebhookdReviewsFailing": `webhookd_reviews_total` + own + `, kind="a", result="failed"} 0x20 1x80`,
		"WebhookdShedding":       `webhookd_shed_total` + own + `, reason="bytes"} 0x20 100x80`,
		// The clock begins at 0.
		"WebhookdCertificateExpiresSoon": `webhookd_certificate_not_after_timestamp_seconds` + own + `} 606000x24 9999999x80`,
		"WebhookdRulesReloadFailing":     `webhookd_rules_reload_failing` + own + `} 0x20 1x3 0x80`,
		"WebhookdReplicasDiffer": `webhookd_rules_info` + own + `, digest="1"} 1x19 stale` + "\n" + `webhookd_rules_info` + own + `, digest="2"} _x20 1x80` + "\n" +
			`webhookd_rules_info` + other + `, digest="1"} 1x24 stale` + "\n" + `webhookd_rules_info` + other + `, digest="2"} _x25 1x80`,
		"WebhookdConversionsStuck": `webhookd_stuck_conversions` + own + `, kind="a"} 0x20 1x3 0x80`,
		"WebhookdCRDOutdated":      `webhookd_crd_outdated` + own + `, kind="a"} 0x20 1x10 0x80`,
		"WebhookdReplicasLow":      `webhookd_build_info` + own + `} 1x100` + "\n" + `webhookd_build_info` + other + `} 1x20 _x8 1x80`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held, fired := timesOf(t, all[name], series)
			if held < 0 || fired >= 0 {
				t.Errorf("its condition first holds at %s, it fires at %s; want it to hold, and nothing to fire", held, fired)
			}
		})
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
