// Package ruleset reads files of rules and CRDs, and builds the kinds that they convert. It does
// not log: a [Set] holds all findings.
package ruleset
