//go:build !linux

package tlsreload

// badPermissions needs Linux system calls to take effect for root as well.
func badPermissions() []damage { return nil }
