//go:build !race

package cli

// fewer divides how many pages of examples are followed where the race detector is on.
const fewer = 1
