// Package reference has pages of the documentation that the program prints parts of.
package reference

import _ "embed"

// Findings is the page about the codes of findings.
//
//go:embed findings.md
var Findings string
