package review

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Buffers of other sizes are never handed out.
func TestBuffersHaveTheSizesOfTheirPools(t *testing.T) {
	t.Parallel()
	var b buffers
	for range 100 { // a pool may drop what it gets
		b.put(make([]byte, 5_000))
		b.put(make([]byte, leastBuffer<<len(b)))
		if got := b.get(8 << 10); cap(got) != 8<<10 {
			t.Fatalf("a buffer of %d bytes", cap(got))
		}
	}
}

// A conversion that ends just as its time is over has ended in time.
func TestTaskThatEndsLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k task
		k.begin(0, time.Second)
		k.state.Store(taskEnded)
		began := time.Now()
		time.AfterFunc(2*time.Second, func() { k.ended <- struct{}{} })
		if !k.wait() || time.Since(began) != 2*time.Second {
			t.Errorf("it is abandoned, or not waited for: %s", time.Since(began))
		}
	})
}

// Only as many problems are kept as a message has room for, and no room is lost to none.
func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	var p problems
	for range 2 * maxProblems {
		p.add(nil)
	}
	for range 2 * maxProblems {
		p.add(errProblem)
	}
	if len(p) != maxProblems || !errors.Is(p.join(), errProblem) {
		t.Errorf("%d problems: %v", len(p), p.join())
	}
	g := &GuardError{}
	for range maxPaths + 2 {
		g.add("a")
	}
	if text := g.Error(); len(g.Paths) != maxPaths || !strings.HasSuffix(text, ".a and 2 more") {
		t.Error(text)
	}
}

var errProblem = errors.New("a problem")

func TestClip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"ab": "ab", "abc": "ab...", "a\u00e9": "a...", "\x80\x80\x80": "..."} {
		if got := clip(text, 2); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlainTexts(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		if text := string([]byte{byte(c)}); isPlain(text) != regexp.MustCompile(`^[A-Za-z0-9-]$`).MatchString(text) {
			t.Errorf("%q is plain: %t", text, isPlain(text))
		}
	}
}

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
		overdue := r.conversions.New().(*conversion) //nolint:forcetypeassert // New's
		overdue.overdue = true
		r.end(overdue)
		if got := r.conversions.Get(); got == overdue {
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
