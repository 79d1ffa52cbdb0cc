package server

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe" //nolint:depguard // the only place; it passes on the address of a slice, as package syscall does
)

// unannouncedMost bounds what is read or written without telling the scheduler, in bytes: some microseconds.
const unannouncedMost = 64 << 10

// A socket reads and writes with system calls that Go's scheduler is not told of.
//
// It is told of others because they may block. The first one after an idle moment, which is the first one of each request, wakes
// the runtime's sysmon, a thread that then looks every 20 us whether one does: a fifth of the CPU of a small request
// (make bench-serve, one small object). It is sound as sockets of package net do not block; what else sysmon is there for,
// conns.beat sees to.
//
// It is for one reader and one writer at a time.
type socket struct {
	net.Conn

	raw     syscall.RawConn
	reading transfer
	writing transfer
}

// A transfer is a system call in progress. Its function is made once: one for each call would be garbage.
type transfer struct {
	p     []byte
	n     int // that were transferred
	errno syscall.Errno
	call  func(fd uintptr) (done bool)
}

// newSocket returns c as a socket, or as it is where it is none.
func newSocket(c net.Conn) net.Conn {
	below, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := below.SyscallConn()
	if err != nil {
		return c
	}
	s := &socket{Conn: c, raw: raw}
	s.reading.call = func(fd uintptr) bool { return s.reading.do(syscall.SYS_READ, fd) != syscall.EAGAIN } // else the poller waits
	s.writing.call = func(fd uintptr) bool { _ = s.writing.do(syscall.SYS_WRITE, fd); return true }
	return s
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.raw, nil }

// do makes the system call. For the race detector, what is written to a socket happens before it is read; but it sees only calls
// of package syscall, so it is shown empty ones.
func (t *transfer) do(trap, fd uintptr) syscall.Errno {
	if raceDetector && trap == syscall.SYS_WRITE {
		_, _ = syscall.Write(int(fd), nil)
	}
	n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(&t.p[0])), uintptr(len(t.p))) //nolint:gosec // see the import
	if raceDetector && trap == syscall.SYS_READ {
		_, _ = syscall.Read(int(fd), nil)
	}
	if t.n, t.errno = 0, errno; errno == 0 {
		t.n = int(n)
	}
	return errno
}

// try has f, the raw connection's, do the transfer with p, and reports whether it has been done, be it with an error. What has
// not is for an ordinary call, which comes upon the same and can say it.
func (t *transfer) try(f func(func(fd uintptr) bool) error, p []byte) bool {
	if len(p) == 0 || len(p) > unannouncedMost {
		return false
	}
	t.p = p
	err := f(t.call)
	t.p = nil
	return err == nil && t.errno != syscall.EAGAIN && t.errno != syscall.EINTR
}

// Read reads what there is, or else waits for it.
func (s *socket) Read(p []byte) (int, error) {
	switch t := &s.reading; {
	case !t.try(s.raw.Read, p):
		return s.Conn.Read(p)
	case t.errno != 0:
		return 0, s.failed("read", t.errno)
	case t.n == 0:
		return 0, io.EOF
	default:
		return t.n, nil
	}
}

// Write writes all of p.
func (s *socket) Write(p []byte) (int, error) {
	switch t := &s.writing; {
	case !t.try(s.raw.Write, p):
		return s.Conn.Write(p)
	case t.errno != 0:
		return 0, s.failed("write", t.errno)
	case t.n < len(p): // there is no more room
		n := t.n
		more, err := s.Conn.Write(p[n:])
		return n + more, err
	default:
		return t.n, nil
	}
}

// failed returns the error that package net would.
func (s *socket) failed(op string, errno syscall.Errno) error {
	local, remote := s.LocalAddr(), s.RemoteAddr()
	return &net.OpError{Op: op, Net: local.Network(), Source: local, Addr: remote, Err: os.NewSyscallError(op, errno)}
}
