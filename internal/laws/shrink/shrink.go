package shrink

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// MaxRemote bounds the objects and the walks that are tried where each is several requests.
const MaxRemote = 1000

// Smallest makes an object smaller for as long as fails says so of it, and returns the smallest. It
// tries at most some, and ends early when ctx does.
func Smallest(ctx context.Context, object []byte, most int, fails func(object []byte) bool) []byte {
	return reduce(ctx, object, most, smaller, fails)
}

// reduce replaces x by a smaller one for as long as one fails. It tries at most some.
func reduce[T any](ctx context.Context, x T, most int, smaller func(T) iter.Seq[T], fails func(T) bool) T {
	for progress := true; progress; {
		progress = false
		for i, more := 0, true; more; {
			more = false
			at := 0
			for y := range smaller(x) {
				if at++; at <= i {
					continue // tried before
				}
				if most--; most < 0 || ctx.Err() != nil {
					return x
				}
				if fails(y) {
					x, progress, more = y, true, true
					break
				}
				i++
			}
		}
	}
	return x
}

// smaller yields smaller objects: without each of the parts, and with something smaller in the
// place of each.
func smaller(object []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for v := range smallerValues(tree.Literal(object)) {
			if !yield(tree.Encode(v)) {
				return
			}
		}
	}
}

// smallerValues yields smaller forms of a JSON value, which are good while they are yielded.
func smallerValues(root any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for v := range tree.EachPart(root, func(p tree.Part) { p.Remove() }) {
			if !yield(v) {
				return
			}
		}
		for _, p := range tree.Parts(root) {
			for value := range reductions(p.Value) {
				p.Set(value)
				ok := yield(root)
				if p.Undo(); !ok {
					return
				}
			}
		}
	}
}

// reductions yields simpler values, the simplest first. A kept value gets smaller as the object
// that it is. What it was kept against stays, or it would be kept against nothing.
func reductions(v any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case string:
			if kept, err := jsondoc.Decode([]byte(v), true); err == nil && strings.HasPrefix(v, "{") {
				against := keptAgainst(kept)
				for less := range smallerValues(kept) {
					if !tree.Equal(keptAgainst(less), against) {
						continue
					}
					if text := string(tree.Encode(less)); len(text) < len(v) && !yield(text) {
						return
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

// keptAgainst returns the members of a kept value that say when it is valid.
func keptAgainst(kept any) []any {
	return []any{tree.At(kept, "inputs"), tree.At(kept, "object"), tree.At(kept, "in")}
}
