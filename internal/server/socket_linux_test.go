package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// tcpPair returns two ends of a connection of the loopback.
func tcpPair(t *testing.T) (own, peer *net.TCPConn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var d net.Dialer
	dialled, err := d.DialContext(context.WithoutCancel(t.Context()), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		accepted.Close()
		dialled.Close()
	})
	own, peer = accepted.(*net.TCPConn), dialled.(*net.TCPConn) //nolint:forcetypeassert // tcp
	const room = 64 << 10                                       // else the kernel has it for tens of MiB
	if err := errors.Join(own.SetWriteBuffer(room), peer.SetReadBuffer(room)); err != nil {
		t.Fatal(err)
	}
	return own, peer
}

// TestSocketIsAConnection holds a socket to what the connection below it does.
func TestSocketIsAConnection(t *testing.T) {
	t.Parallel()
	short, long := []byte("a few bytes"), bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	past, soon := time.Unix(1, 0), 50*time.Millisecond
	for _, tt := range []struct {
		name string
		own  func(c net.Conn) (int, error)
		peer func(c *net.TCPConn) error // at the same time
	}{
		{"what has come is read", func(c net.Conn) (int, error) {
			return io.ReadFull(c, make([]byte, len(short)))
		}, func(c *net.TCPConn) error { _, err := c.Write(short); return err }},
		{"what comes later is waited for", func(c net.Conn) (int, error) {
			return io.ReadFull(c, make([]byte, 2*len(short)))
		}, func(c *net.TCPConn) error {
			time.AfterFunc(soon, func() { _, _ = c.Write(short) })
			_, err := c.Write(short)
			return err
		}},
		{"much is read to its end", func(c net.Conn) (int, error) {
			got, err := io.ReadAll(io.MultiReader(io.LimitReader(c, 100), c))
			return len(got), err
		}, func(c *net.TCPConn) error { _, err := c.Write(long); return errors.Join(err, c.CloseWrite()) }},
		{"nothing is read without a wait", func(c net.Conn) (int, error) { return c.Read(nil) }, nil},
		{"the end", func(c net.Conn) (int, error) { return c.Read(make([]byte, 1)) }, (*net.TCPConn).CloseWrite},
		{"a reset", func(c net.Conn) (int, error) { return c.Read(make([]byte, 1)) }, func(c *net.TCPConn) error {
			return errors.Join(c.SetLinger(0), c.Close())
		}},
		{"a read after Close", func(c net.Conn) (int, error) { _ = c.Close(); return c.Read(make([]byte, 1)) }, nil},
		{"Close ends a read", func(c net.Conn) (int, error) {
			time.AfterFunc(soon, func() { _ = c.Close() })
			return c.Read(make([]byte, 1))
		}, nil},
		{"a deadline ends a read", func(c net.Conn) (int, error) {
			_ = c.SetReadDeadline(time.Now().Add(soon))
			return c.Read(make([]byte, 1))
		}, nil},
		{"a deadline that has passed", func(c net.Conn) (int, error) {
			_ = c.SetReadDeadline(past)
			return c.Read(make([]byte, 1))
		}, func(c *net.TCPConn) error { _, err := c.Write(short); return err }},
		{"little is written", func(c net.Conn) (int, error) { return c.Write(short) }, nil},
		{"nothing is written", func(c net.Conn) (int, error) { return c.Write(nil) }, nil},
		{"much is written", func(c net.Conn) (int, error) { return c.Write(long) }, func(c *net.TCPConn) error {
			_, err := io.CopyN(io.Discard, c, int64(len(long)))
			return err
		}},
		{"a write waits for room", func(c net.Conn) (int, error) {
			sum := 0
			for piece := range slices.Chunk(long, 32<<10) {
				n, err := c.Write(piece)
				if sum += n; err != nil {
					return sum, err
				}
			}
			return sum, nil
		}, func(c *net.TCPConn) error {
			<-time.After(soon)
			_, err := io.CopyN(io.Discard, c, int64(len(long)))
			return err
		}},
		{"a write waits where there is none", func(c net.Conn) (int, error) {
			_ = c.SetWriteDeadline(time.Now().Add(soon))
			for err := error(nil); err == nil; {
				_, err = c.Write(long[:32<<10])
			}
			_ = c.SetWriteDeadline(time.Time{})
			return c.Write(short)
		}, func(c *net.TCPConn) error {
			<-time.After(4 * soon)
			_, err := io.Copy(io.Discard, c)
			return err
		}},
		{"a deadline ends a write", func(c net.Conn) (int, error) {
			_ = c.SetWriteDeadline(past)
			return c.Write(short)
		}, nil},
		{"a write after Close", func(c net.Conn) (int, error) { _ = c.Close(); return c.Write(short) }, nil},
		{"a write after CloseWrite", func(c net.Conn) (int, error) {
			_ = tcp(c).CloseWrite()
			return c.Write(short)
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := func(through func(net.Conn) net.Conn) (int, string) {
				own, peer := tcpPair(t)
				done := make(chan error, 1)
				go func() {
					if tt.peer == nil {
						done <- nil
						return
					}
					done <- tt.peer(peer)
				}()
				n, err := tt.own(through(own))
				_ = own.CloseWrite() // or a peer would wait for what was not written
				if err := <-done; err != nil {
					t.Error(err)
				}
				text := "no error"
				if err != nil {
					addresses := strings.NewReplacer(own.LocalAddr().String(), "OWN", own.RemoteAddr().String(), "PEER")
					text = addresses.Replace(err.Error())
				}
				return n, text
			}
			wantN, want := run(func(c net.Conn) net.Conn { return c })
			if n, got := run(newSocket); n != wantN || got != want {
				t.Errorf("%d bytes, %s; want %d bytes, %s", n, got, wantN, want)
			}
		})
	}
}

func tcp(c net.Conn) *net.TCPConn {
	if s, ok := c.(*socket); ok {
		c = s.Conn
	}
	return c.(*net.TCPConn) //nolint:forcetypeassert // tcp
}

// TestSocketPassesOnBytes has both ends talk through sockets, in pieces of all sizes.
func TestSocketPassesOnBytes(t *testing.T) {
	t.Parallel()
	own, peer := tcpPair(t)
	want := bytes.Repeat([]byte("The quick brown fox. "), 100_000)
	go func() {
		defer func() { _ = own.Close() }()
		s := newSocket(own)
		for sent, size := 0, 1; sent < len(want); size = size*3%(3*unannouncedMost) + 1 {
			n, err := s.Write(want[sent:min(sent+size, len(want))])
			if sent += n; err != nil {
				return
			}
		}
	}()
	s, got := newSocket(peer), []byte(nil)
	for size := 1; ; size = size*5%(3*unannouncedMost) + 1 {
		buffer := make([]byte, size)
		n, err := s.Read(buffer)
		got = append(got, buffer[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d came, or others", len(got), len(want))
	}
}
