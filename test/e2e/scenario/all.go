package scenario

import "testing"

// A Scenario is a named test that runs in any Env.
type Scenario struct {
	Name string
	Run  func(t *testing.T, e *Env)
	// Once: one Env is enough, as it takes long and a second one would show nothing else.
	Once bool
}

// All returns the scenarios in order.
func All() []Scenario {
	return []Scenario{
		{Name: "CRUD", Run: CRUD},
		{Name: "Subresources", Run: Subresources},
		{Name: "Watch", Run: Watch},
		{Name: "ApplyCronTab", Run: ApplyCronTab},
		{Name: "Conformance", Run: Conformance},
		{Name: "LosslessFields", Run: LosslessFields},
		{Name: "Rules", Run: Rules},
		{Name: "CRUDByRules", Run: byRules(CRUD)},
		{Name: "ApplyCronTabByRules", Run: byRules(ApplyCronTab)},
		{Name: "ConformanceByRules", Run: byRules(Conformance)},
		{Name: "LosslessFieldsByRules", Run: byRules(LosslessFields)},
		{Name: "KeptApply", Run: KeptApply, Once: true},
		{Name: "KeptSkew", Run: KeptSkew, Once: true},
		{Name: "KeptSkewOfTypes", Run: KeptSkewOfTypes, Once: true},
		{Name: "KeptOverflow", Run: KeptOverflow},
		{Name: "MigratedByCommand", Run: MigratedByCommand},
		{Name: "Killed", Run: Killed},
		{Name: "Upgraded", Run: Upgraded},
	}
}
