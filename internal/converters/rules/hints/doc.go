// Package hints returns values that are worth trying with some rules: those that the rules mention
// and ones that nearly match. It also returns the places that rules lose on purpose. Package
// hold uses both when it holds rules to the laws.
//
// Its functions do not change their arguments, are deterministic, and are safe for concurrent use.
package hints
