//go:build race

package cli

// fewer divides how many pages of examples are followed: the race detector makes their random
// objects ten times as slow.
const fewer = 5
