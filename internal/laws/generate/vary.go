package generate

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// Fragments yields each object without each of its parts, and with null in the place of each, at
// any depth; apiVersion and kind stay. Server-side apply sends such objects (kubernetes#117356).
func Fragments(objects ...[]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, object := range objects {
			for _, edit := range []func(tree.Part){func(p tree.Part) { p.Remove() }, func(p tree.Part) { p.Set(nil) }} {
				for fragment := range tree.EachPart(tree.Literal(object), edit) {
					if !yield(tree.Encode(fragment)) {
						return
					}
				}
			}
		}
	}
}

// MutatedValue returns a value of the same type; a date-time stays one.
func MutatedValue(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return time.Unix(r.Int64N(1<<32), 0).UTC().Format(time.RFC3339)
		}
		return Text(r)
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return json.Number(Pick(r, "0.5", "1.10", "-2.50", "1e-3"))
		}
		return json.Number(Pick(r, "0", "1", "-1", "7", "9007199254740993", "-9223372036854775808", strconv.Itoa(r.IntN(1000))))
	case bool:
		return !v
	case []any:
		if len(v) > 0 && r.IntN(2) == 0 {
			return append(append([]any{}, v...), v[r.IntN(len(v))])
		}
		return []any{}
	case map[string]any:
		if r.IntN(2) == 0 {
			return map[string]any{}
		}
	}
	return v
}

// Text returns a string of the kind that converters trip over.
func Text(r *rand.Rand) string {
	var s strings.Builder
	for more := true; more; more = r.IntN(3) == 0 {
		s.WriteString(Pick(r,
			"", " ", ":", "::", "::1", "[::1]:80", "[::1]", "[a]:1", "localhost:80", "a:b:c", ":80", "80", "a:", "*", "@daily", "0 3 * * *",
			"null", "{}", `"`, `\`, "<a href='x'>&", "\u2028", "héé", "日本", "\U0001f600", "\x00\x1f", "1000m", "true", "a,b", "a/b", "~1", "%d"))
	}
	return s.String()
}
