//go:build !race

package check_test

// fewer divides how many objects are made where the race detector is on.
const fewer = 1
