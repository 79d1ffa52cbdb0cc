//go:build unix

package listen

import (
	"net"
	"syscall"
)

// readPending reads what the kernel has for c, ignoring the read deadline. It does not wait, and
// returns 0 if there is nothing.
func readPending(c net.Conn, p []byte) int {
	s, ok := c.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	err = raw.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), p) })
	if err != nil {
		return 0
	}
	return max(n, 0)
}
