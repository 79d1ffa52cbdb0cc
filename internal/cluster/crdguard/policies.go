package crdguard

import _ "embed"

// The parts of the policies. Words that begin with a dollar sign are replaced.
var (
	//go:embed policies/guard.yaml
	guardYAML string
	//go:embed policies/allowed.yaml
	allowedYAML string
	//go:embed policies/mutation.yaml
	mutationYAML string
	//go:embed policies/validations.yaml
	validationsYAML string
	//go:embed policies/gate.yaml
	gateYAML string
)
