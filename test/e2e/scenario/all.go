package scenario

import "testing"

// A Scenario is a named test that runs in any Env that it fits.
type Scenario struct {
	Name  string
	Run   func(t *testing.T, e *Env)
	Needs Needs
}

// Needs are what a scenario asks of its Env. The zero value runs in each.
type Needs struct {
	// NoCache: the API server has no watch cache, so that calls can be counted.
	NoCache bool
	// Once: one Env is enough, as it takes long and a second one would show nothing else.
	Once bool
}

// All returns the scenarios in order.
func All() []Scenario {
	return []Scenario{
		{Name: "CRUD", Run: CRUD},
		{Name: "Subresources", Run: Subresources},
		{Name: "Tables", Run: Tables},
		{Name: "Watch", Run: Watch},
		{Name: "ApplyCronTab", Run: ApplyCronTab},
		{Name: "ApplyDatabase", Run: ApplyDatabase},
		{Name: "Conformance", Run: Conformance},
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
		{Name: "MigratedByCommand", Run: MigratedByCommand},
		{Name: "Killed", Run: Killed},
		{Name: "Upgraded", Run: Upgraded},
	}
}

// Fits reports whether a cluster has what the scenario needs.
func (s *Scenario) Fits(watchCache bool) bool { return !watchCache || !s.Needs.NoCache }
