package roundtrip

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
)

// maxShrinks bounds the objects that shrinking tries.
const maxShrinks = 20_000

// shrink makes the object of a violation smaller for as long as the same law does not hold between the same versions;
// without kept values, L2 is L1. A valid object stays valid.
func (s *suite) shrink(ctx context.Context, found *ViolationError) *ViolationError {
	was, v := s.subject(ctx, found.Object)
	if v != nil {
		return found
	}
	tried := 0
	try := func(object []byte) bool {
		tried++
		t, v := s.subject(ctx, object)
		if v != nil || t.class > was.class || t.version != found.From {
			return false
		}
		if v = t.again(found); v == nil || v.Law != found.Law && (found.Law != lawEdit || v.Law != lawRoundTrip) {
			return false
		}
		found = v
		return true
	}
	for smaller := true; smaller && tried < maxShrinks && ctx.Err() == nil; {
		smaller = false
		for _, pass := range []func([]byte, int) []byte{withoutPart, withSmallerPart} {
			for i := 0; tried < maxShrinks; {
				object := pass(found.Object, i)
				if object == nil {
					break
				}
				if len(object) < len(found.Object) && try(object) {
					smaller = true
				} else {
					i++
				}
			}
		}
	}
	return found
}

// again holds the object to the law that another one violated.
func (t *subject) again(found *ViolationError) *ViolationError {
	if found.Law == lawIdentity || found.To == t.version {
		return t.check()
	}
	return t.direction(found.To)
}

// withoutPart returns an object without its i-th part, or nil if there are not as many.
func withoutPart(object []byte, i int) []byte {
	root := decode(object)
	all := parts(root)
	if i >= len(all) {
		return nil
	}
	all[i].remove()
	return encode(root)
}

// withSmallerPart returns an object with one thing made smaller, or nil if there are not as many things.
func withSmallerPart(object []byte, i int) []byte {
	root := decode(object)
	for _, p := range parts(root) {
		for smaller := range reductions(p.value) {
			if i == 0 {
				p.set(smaller)
				return encode(root)
			}
			i--
		}
	}
	return nil
}

// reductions yields simpler values, the simplest first. A kept value gets smaller as the object that it is.
func reductions(v any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case string:
			if kept := []byte(v); strings.HasPrefix(v, "{") && json.Valid(kept) {
				for _, pass := range []func([]byte, int) []byte{withoutPart, withSmallerPart} {
					for i := 0; ; i++ {
						smaller := pass(kept, i)
						if smaller == nil {
							break
						}
						if !yield(string(smaller)) {
							return
						}
					}
				}
			}
			runes := []rune(v)
			for _, n := range []int{0, 1, len(runes) / 2, len(runes) - 1} {
				if n >= 0 && n < len(runes) && !yield(string(runes[:n])) {
					return
				}
			}
			if len(runes) > 1 {
				yield(string(runes[1:]))
			}
		case json.Number:
			for _, n := range []string{"0", "1", "10"} {
				if len(n) < len(v) && !yield(json.Number(n)) {
					return
				}
			}
		}
	}
}
