//go:build !race

package rules_test

// fewer divides the number of objects if the race detector is on.
const fewer = 1
