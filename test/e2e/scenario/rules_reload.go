package scenario

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const relayRules = "relays." + rulesGroup + ".yaml"

// RulesReloaded changes rules while webhookd and the API server run, and breaks them: what was good
// last is served on. Users who work meanwhile notice nothing.
func RulesReloaded(t *testing.T, e *Env) {
	t.Helper()
	e = e.ByRules(t)
	w := e.Webhookd(t)
	relays := e.subject(t, relayCRD(t), w)
	crontabs := e.Install(t, e.CRD(t, "crontabs.example.com"), w)
	p := populate(t, crontabs, 4)
	was := p.snapshot(t)
	l := startLoad(t, crontabs, p)
	relays.run("a change is taken over", func(s subject) { rulesChanged(s, e) })
	l.lap(2)
	relays.run("broken rules change nothing", func(s subject) { rulesBroken(s, e) })
	crontabs.MustConvert(t, w, 1, func() { l.lap(2) })
	l.noFailures()
	l.intact(t)
	p.unharmed(t, was)
}

// rulesChanged has a rule say that the other of two old values is what the one new value comes
// from.
func rulesChanged(s subject, e *Env) {
	s.create("v1", "changed", `"spec":{"policy":"Preview"}`)
	s.wants("v1alpha1", "changed", `"spec":{"mode":"none"}`)
	e.rules.change(s.t, relayRules, "none: Preview, manual: Preview", "manual: Preview, none: Preview", "success")
	s.wants("v1alpha1", "changed", `"spec":{"mode":"manual"}`)
	// A watch cache has what the rules said when it converted the object, until it begins again, as
	// it does when the CRD changes.
	if !e.Cluster.WatchCache() {
		s.lists("v1alpha1", map[string]string{"changed": `"spec":{"mode":"manual"}`})
	}
	e.UpdateCRD(s.t, s.Name, func(*apiextensionsv1.CustomResourceDefinition) {})
	s.lists("v1alpha1", map[string]string{"changed": `"spec":{"mode":"manual"}`})
}

func rulesBroken(s subject, e *Env) {
	const path, typo = ".spec.upstream.host}", ".spec.upstream.hots}"
	e.rules.w.AllowLog("rules cannot be used, the last good ones are kept")
	s.create("v1alpha1", "unbroken", `"spec":{"host":"localhost","port":"80","mode":"manual"}`)
	e.rules.change(s.t, relayRules, path, typo, "failure")
	s.reloadFailing(1)
	s.create("v1alpha1", "broken", `"spec":{"host":"localhost","port":"80","mode":"manual"}`)
	for _, name := range []string{"unbroken", "broken"} {
		s.wants("v1", name, `"spec":{"upstream":{"host":"localhost","port":"80"},"policy":"Preview"}`)
		s.wants("v1beta1", name, `"spec":{"hostPort":"localhost:80","applyMode":"Dry"}`)
	}
	e.rules.change(s.t, relayRules, typo, path, "success")
	s.reloadFailing(0)
	s.wants("v1", "broken", `"spec":{"upstream":{"host":"localhost","port":"80"},"policy":"Preview"}`)
}

func (s subject) reloadFailing(want float64) {
	s.t.Helper()
	if got := s.w.Metrics(s.t).Sum("webhookd_rules_reload_failing"); got != want {
		s.t.Errorf("webhookd_rules_reload_failing is %g, want %g", got, want)
	}
}
