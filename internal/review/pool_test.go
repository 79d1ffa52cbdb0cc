package review

import "testing"

// What a review of very many objects takes is not kept for the next one, nor are large buffers.
func TestLargeMemoryIsNotReused(t *testing.T) {
	t.Parallel()
	r := NewReviewer(nil, Hooks{})
	var b buffers
	reused, small := 0, 0
	for range 100 { // a pool may drop what it gets
		c := r.conversions.New().(*conversion) //nolint:forcetypeassert // New's
		c.envelope.objects = make([]source, objectsAtOnce+1)
		r.end(c)
		if got := r.conversions.Get(); got == c {
			reused++
		}
		large := b.get(64<<10 + 1)
		b.put(large)
		for _, size := range []int{len(large), 64 << 10} {
			if got := b.get(size); &got[0] == &large[0] {
				reused++
			}
		}
		buffer := b.get(9_000)
		b.put(buffer)
		if got := b.get(16_000); &got[0] == &buffer[0] && cap(got) == 16<<10 {
			small++
		}
	}
	if reused > 0 || small == 0 {
		t.Errorf("large memory is reused %d times, and small buffers %d times", reused, small)
	}
}
