package scenario

import (
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
)

// A Scenario is a named test that runs in any Env that it fits.
type Scenario struct {
	Name  string
	Run   func(t *testing.T, e *Env)
	Needs Needs
}

// Needs are what a scenario asks of its Env. The zero value runs in each.
type Needs struct {
	// Restart: the cluster is a cluster.Restarter.
	Restart bool
	// Cache: the API server has a watch cache. NoCache: it has none, so that calls can be counted.
	Cache, NoCache bool
	// Once: one Env is enough, as it takes long and a second one would show nothing else.
	Once bool
}

// All returns the scenarios in order.
func All() []Scenario {
	return []Scenario{
		{Name: "References", Run: References, Needs: Needs{Once: true}},
		{Name: "CRUD", Run: CRUD},
		{Name: "Subresources", Run: Subresources},
		{Name: "Tables", Run: Tables},
		{Name: "Watch", Run: Watch},
		{Name: "ApplyCronTab", Run: ApplyCronTab},
		{Name: "ApplyDatabase", Run: ApplyDatabase},
		{Name: "ApplyFragment", Run: ApplyFragment},
		{Name: "Conformance", Run: Conformance},
		{Name: "FailureMessages", Run: FailureMessages},
		{Name: "LosslessFields", Run: LosslessFields},
		{Name: "Rules", Run: Rules},
		{Name: "CRUDByRules", Run: byRules(CRUD)},
		{Name: "ApplyCronTabByRules", Run: byRules(ApplyCronTab)},
		{Name: "ApplyDatabaseByRules", Run: byRules(ApplyDatabase)},
		{Name: "ConformanceByRules", Run: byRules(Conformance)},
		{Name: "LosslessFieldsByRules", Run: byRules(LosslessFields)},
		{Name: "RulesRolledOut", Run: RulesRolledOut, Needs: Needs{Once: true, NoCache: true}},
		{Name: "KeptApply", Run: KeptApply, Needs: Needs{Once: true}},
		{Name: "KeptSkew", Run: KeptSkew, Needs: Needs{Once: true}},
		{Name: "KeptSkewOfTypes", Run: KeptSkewOfTypes, Needs: Needs{Once: true}},
		{Name: "KeptOverflow", Run: KeptOverflow},
		{Name: "Live", Run: Live, Needs: Needs{Once: true}},
		{Name: "Compare", Run: Compare, Needs: Needs{Once: true}},
		{Name: "MixedStoredVersions", Run: MixedStoredVersions},
		{Name: "MigratedByCommand", Run: MigratedByCommand},
		{Name: "Killed", Run: Killed},
		{Name: "Upgraded", Run: Upgraded},
		{Name: "Volume", Run: Volume},
		{Name: "VolumeByRules", Run: byRules(Volume), Needs: Needs{NoCache: true}},
	}
}

// Fits reports whether the Env has what the scenario needs.
func (s *Scenario) Fits(e *Env) bool {
	_, restarts := e.Cluster.(cluster.Restarter)
	return s.Needs.Allow(restarts, e.Cluster.WatchCache())
}

// Allow reports whether a cluster that has these has what is needed.
func (n Needs) Allow(restart, watchCache bool) bool {
	return (restart || !n.Restart) && (watchCache || !n.Cache) && (!watchCache || !n.NoCache)
}
