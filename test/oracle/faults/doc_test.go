// Package faults holds what webhookd does while something goes wrong around it; README.md has the
// table of faults and tests.
package faults_test
