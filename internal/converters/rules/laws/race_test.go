//go:build race

package laws_test

// fewer divides how many objects are made: the race detector makes everything ten times as slow,
// and looks for something else.
const fewer = 10
