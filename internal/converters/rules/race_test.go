//go:build race

package rules_test

// fewer divides the number of objects: the race detector makes everything ten times as slow, and
// looks for something else.
const fewer = 10
