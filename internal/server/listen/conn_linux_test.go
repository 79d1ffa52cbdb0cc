package listen

import (
	"net"
	"syscall"
	"testing"
)

func TestSocketBuffersAreBounded(t *testing.T) {
	t.Parallel()
	listening := listenTCP(t)
	dialTCP(t, listening.Addr())
	c, err := listening.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	tcp := c.(*net.TCPConn) //nolint:forcetypeassert // of a TCP listener
	_, _ = tcp.SetReadBuffer(1), tcp.SetWriteBuffer(1)
	newConn(c, Times{}, NewConns(0, nil), nil)
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		for _, buffer := range []int{syscall.SO_RCVBUF, syscall.SO_SNDBUF} {
			if n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, buffer); err != nil || n != 2*socketBuffer {
				t.Errorf("%d bytes, %v; want %d, as the kernel doubles it", n, err, 2*socketBuffer)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
}
