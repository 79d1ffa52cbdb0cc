package listen

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/server/gate"
)

// sink is a connection that records each write.
type sink struct {
	net.Conn

	writes [][]byte
	err    error
}

// RemoteAddr is of no source.
func (s *sink) RemoteAddr() net.Addr { return nil }

// Close does nothing.
func (s *sink) Close() error { return nil }

func (s *sink) Write(p []byte) (int, error) {
	s.writes = append(s.writes, bytes.Clone(p))
	return len(p), s.err
}

// Read has nothing.
func (s *sink) Read([]byte) (int, error) { return 0, io.EOF }

func (s *sink) sizes() []int {
	sizes := make([]int, len(s.writes))
	for i, w := range s.writes {
		sizes[i] = len(w)
	}
	return sizes
}

func TestCorkGathersWrites(t *testing.T) {
	t.Parallel()
	const record = 16 << 10
	tests := []struct {
		name   string
		writes []int
		want   []int
	}{
		{"nothing", nil, []int{}},
		{"two records of an object", []int{4118, 300}, []int{4418}},
		{"just what fits", []int{CorkSize / 2, CorkSize / 2}, []int{CorkSize}},
		{"a list", []int{record, record, record, record, record, record, record, record, record}, []int{4 * record, 4 * record, record}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := &sink{}
			c := &Conn{Conn: out, conns: NewConns(0, nil)}
			c.Cork()
			var sent []byte
			for i, n := range tt.writes {
				piece := bytes.Repeat([]byte{byte('a' + i)}, n)
				sent = append(sent, piece...)
				if n, err := c.Write(piece); n != len(piece) || err != nil {
					t.Fatalf("Write: %d, %v", n, err)
				}
			}
			c.Uncork()
			if diff := cmp.Diff(tt.want, out.sizes()); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(sent, bytes.Join(out.writes, nil)) {
				t.Error("what was written is not what was sent")
			}
			if _, err := c.Write([]byte("alert")); err != nil || len(out.writes) != len(tt.want)+1 {
				t.Errorf("after the cork a write is not sent at once: %v", err)
			}
		})
	}
}

func TestCorkReportsLateError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	out := &sink{err: broken}
	c := &Conn{Conn: out, conns: NewConns(0, nil)}
	c.Cork()
	if _, err := c.Write([]byte("gathered")); err != nil {
		t.Fatalf("a gathered write fails: %v", err)
	}
	c.Uncork()
	out.err = nil
	c.Cork()
	if _, err := c.Write([]byte("next")); !errors.Is(err, broken) {
		t.Errorf("the next write returns %v, want %v", err, broken)
	}
	if c.Uncork(); len(out.writes) != 1 {
		t.Errorf("%d writes after one that failed", len(out.writes)-1)
	}
}

// What the socket has taken is the progress of an answer, so that its request is not slow.
func TestWritesAreDone(t *testing.T) {
	t.Parallel()
	for _, watched := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := gate.New(100, time.Minute, func() int64 { return 0 })
			var answering, next gate.Share
			l.Join(t.Context(), &answering, gate.Key{Large: true})
			l.Join(t.Context(), &next, gate.Key{Large: true})
			if err := answering.Admit(60); err != nil {
				t.Fatal(err)
			}
			stopped := false
			answering.Watch(60, time.Now(), func(gate.Stage) { stopped = true })
			answering.Answer(60)
			c := &Conn{Conn: &sink{}, conns: NewConns(0, nil)}
			if watched {
				c.Watch(&answering)
			}
			if _, err := c.Write(make([]byte, 60)); err != nil {
				t.Fatal(err)
			}
			go func() { _ = next.Admit(60) }()
			advance(10 * time.Second)
			if stopped == watched {
				t.Errorf("watched %t: a request whose answer is written is given up: %t", watched, stopped)
			}
			answering.Release()
			synctest.Wait()
			next.Release()
		})
	}
}
