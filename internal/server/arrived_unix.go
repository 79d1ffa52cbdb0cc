//go:build unix

package server

import (
	"net"
	"syscall"
)

// arrived reads what the kernel has for c, whatever the deadline, and does not wait: 0 where it has nothing.
func arrived(c net.Conn, p []byte) int {
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
