package review

import "testing"

func TestBuffers(t *testing.T) {
	t.Parallel()
	t.Run("a size rounded up, with room to see the end", func(t *testing.T) {
		t.Parallel()
		var b buffers
		for size, want := range map[int]int{0: 4096, 1: 4096, 4095: 4096, 4096: 8192, 100_000: 102_400} {
			if got := b.get(size); len(got) != size || cap(got) != want {
				t.Errorf("get(%d) has length %d and capacity %d, want %d", size, len(got), cap(got), want)
			}
		}
	})
	t.Run("the closest that fits is reused", func(t *testing.T) {
		t.Parallel()
		var b buffers
		small, middle, large := b.get(5_000), b.get(20_000), b.get(50_000)
		b.put(large)
		b.put(small)
		b.put(middle)
		if got := b.get(9_000); &got[0] != &middle[0] || len(got) != 9_000 {
			t.Error("not the closest one")
		}
		if got := b.get(10_000); &got[0] != &large[0] {
			t.Error("not the next closest one")
		}
		if got := b.get(9_000); cap(got) != 12_288 {
			t.Error("one that is too small, or in use")
		}
		if b.held != 0 || len(b.free) != 0 {
			t.Errorf("kept one that was too small: %d bytes held in %d", b.held, len(b.free))
		}
	})
	t.Run("a small body does not take a large buffer away", func(t *testing.T) {
		t.Parallel()
		var b buffers
		b.put(make([]byte, 1<<20))
		if got := b.get(100); cap(got) != 4096 || len(b.free) != 1 {
			t.Errorf("took %d bytes for 100", cap(got))
		}
		if got := b.get(1 << 19); cap(got) != 1<<20 {
			t.Errorf("did not take the large one for half its size")
		}
	})
	t.Run("a size that is no longer asked for is dropped", func(t *testing.T) {
		t.Parallel()
		var b buffers
		b.put(make([]byte, 8<<20))
		b.put(make([]byte, 1<<20))
		for range 9 {
			b.get(1<<20 - 1) // the first has the small one, the large one is too large
		}
		if len(b.free) != 1 {
			t.Errorf("%d buffers held", len(b.free))
		}
		b.put(make([]byte, 4))
		if b.get(8); len(b.free) != 1 || b.held != 4 {
			t.Errorf("%d bytes held in %d", b.held, len(b.free))
		}
		if b.get(2000); len(b.free) != 0 || b.held != 0 || b.missed != 0 {
			t.Errorf("%d bytes held in %d, %d missed", b.held, len(b.free), b.missed)
		}
	})
	t.Run("what is kept is bounded in bytes", func(t *testing.T) {
		t.Parallel()
		var b buffers
		b.put(make([]byte, heldBytes+1))
		b.put(make([]byte, heldBytes-10))
		b.put(make([]byte, 11))
		b.put(make([]byte, 10))
		if b.held != heldBytes || len(b.free) != 2 {
			t.Errorf("%d bytes held in %d", b.held, len(b.free))
		}
	})
	t.Run("and in number", func(t *testing.T) {
		t.Parallel()
		var b buffers
		for range heldBuffers + 5 {
			b.put(make([]byte, 1))
		}
		if len(b.free) != heldBuffers {
			t.Errorf("%d buffers held", len(b.free))
		}
	})
}
