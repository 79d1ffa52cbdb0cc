// Package examples has the files of the examples with rules.
package examples

import "embed"

// Rules has the CRD, the rules and the cases of each example with rules, and README.md with a line
// about each.
//
//go:embed README.md */crd.yaml */rules.yaml */cases/*.yaml
var Rules embed.FS
