package listen

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sink is a connection that records each write.
type sink struct {
	net.Conn

	writes [][]byte
	err    error
}

// RemoteAddr is of no source.
func (s *sink) RemoteAddr() net.Addr { return nil }

func (s *sink) Write(p []byte) (int, error) {
	s.writes = append(s.writes, bytes.Clone(p))
	return len(p), s.err
}

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
	c := &Conn{Conn: &sink{err: broken}, conns: NewConns(0, nil)}
	c.Cork()
	if _, err := c.Write([]byte("gathered")); err != nil {
		t.Fatalf("a gathered write fails: %v", err)
	}
	c.Uncork()
	if _, err := c.Write([]byte("next")); !errors.Is(err, broken) {
		t.Errorf("the next write returns %v, want %v", err, broken)
	}
}
