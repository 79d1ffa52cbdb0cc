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

// Variants yields count random variants of each object: values changed within their type, parts
// left out or set to null, unknown fields, labels and annotations added. The same seed gives the
// same variants.
func Variants(seed uint64, count int, objects ...[]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n, object := range objects {
			for i := range count {
				r := Random(seed, uint64(n)<<32|uint64(i))
				if !yield(Vary(r, object, 1+r.IntN(5), true)) {
					return
				}
			}
		}
	}
}

// Vary returns object with some random changes. Of metadata only labels and annotations change.
func Vary(r *rand.Rand, object []byte, changes int, unknown bool) []byte {
	root := tree.Literal(object)
	for range changes {
		var choice []tree.Part
		for _, p := range tree.Parts(root) {
			if !p.IsMeta() {
				choice = append(choice, p)
			}
		}
		n := r.IntN(10)
		if unknown && (n == 0 || len(choice) == 0) {
			addUnknown(r, root, choice)
			continue
		}
		if len(choice) == 0 {
			break
		}
		switch p := choice[r.IntN(len(choice))]; n {
		case 1:
			p.Remove()
		case 2:
			p.Set(nil)
		default:
			p.Set(another(r, p.Value))
		}
	}
	return tree.Encode(root)
}

// addUnknown adds a field that no version has, a label or an annotation.
func addUnknown(r *rand.Rand, root any, parts []tree.Part) {
	object, ok := root.(map[string]any)
	if !ok {
		return
	}
	if meta, ok := object["metadata"].(map[string]any); ok && r.IntN(3) == 0 {
		tree.Child(meta, Pick(r, "labels", "annotations"))["example.com/x"+strconv.Itoa(r.IntN(9))] = text(r)
		return
	}
	homes := []map[string]any{object}
	for _, p := range parts {
		if home, ok := p.Value.(map[string]any); ok {
			homes = append(homes, home)
		}
	}
	homes[r.IntN(len(homes))]["unknown"+strconv.Itoa(r.IntN(9))] = tree.Literal([]byte(Pick(r,
		`"x"`, "9007199254740993", "1.10", "1e21", "false", "null", "[]", "{}", `[1,{"a":null}]`, `{"b":"<","a":[""]}`)))
}

// another returns a value of the same type; a date-time stays one.
func another(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return time.Unix(r.Int64N(1<<32), 0).UTC().Format(time.RFC3339)
		}
		return text(r)
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

// text returns a string of the kind that converters trip over.
func text(r *rand.Rand) string {
	var s strings.Builder
	for more := true; more; more = r.IntN(3) == 0 {
		s.WriteString(Pick(r,
			"", " ", ":", "::", "::1", "[::1]:80", "[::1]", "[a]:1", "localhost:80", "a:b:c", ":80", "80", "a:", "*", "@daily", "0 3 * * *",
			"null", "{}", `"`, `\`, "<a href='x'>&", "\u2028", "héé", "日本", "\U0001f600", "\x00\x1f", "1000m", "true", "a,b", "a/b", "~1", "%d"))
	}
	return s.String()
}
