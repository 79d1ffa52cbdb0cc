// Package ruleset reads files of rules and of CRDs and makes the kinds that they convert. It has no log
// and no server: [Set] holds all findings.
package ruleset
