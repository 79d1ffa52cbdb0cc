package generate

import (
	"math/rand/v2"
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/tree"
)

func TestPatternsMakeWhatTheyMatch(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
		`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`,
		`^(([0-9]{1,3}\.){3}[0-9]{1,3})(:\d{1,5})?$`,
		`^(@(annually|hourly)|((\*|\d+) ){4}(\*|\d+))$`,
		`^\p{Lu}[^/]+/.*$`, `^(?i)abc(?-i)D$`, `^[\s\S]{2,5}$`, `foo|bar`, `^$`, `a{3}`, `^[^a-z]+$`, `.`, `\bword\b`, `^(?:a|b|)+?c*?$`,
	} {
		p := newPattern(text)
		if p == nil {
			t.Fatalf("no pattern: %s", text)
		}
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // choices that can be repeated
		matched, different := 0, map[string]bool{}
		for range 200 {
			s := p.generate(r, 4)
			if p.matches.MatchString(s) {
				matched++
			}
			different[s] = true
		}
		if matched < 190 {
			t.Errorf("%d of 200 strings match %s", matched, text)
		}
	}
	if newPattern("(") != nil {
		t.Error("a pattern of no regular expression")
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // choices that can be repeated
	if s := newPattern(`^(((((a{9}){9}){9})+)+)+$`).generate(r, 30); len(s) > 2*maxPatternText {
		t.Errorf("%d bytes", len(s))
	}
}

func TestRemovePath(t *testing.T) {
	t.Parallel()
	const object = `{"a":{"b":[{"c":1},{"c":2}],"x.y":{"z":3},"x":4,"":5},"d":6}`
	for path, want := range map[string]string{
		"d":           `{"a":{"b":[{"c":1},{"c":2}],"x.y":{"z":3},"x":4,"":5}}`,
		"a.b[0]":      `{"a":{"b":[{"c":2}],"x.y":{"z":3},"x":4,"":5},"d":6}`,
		"a.b[1].c":    `{"a":{"b":[{"c":1},{}],"x.y":{"z":3},"x":4,"":5},"d":6}`,
		"a.b[1].e":    `{"a":{"b":[{"c":1}],"x.y":{"z":3},"x":4,"":5},"d":6}`,
		"a.b[7]":      `{"a":{"x.y":{"z":3},"x":4,"":5},"d":6}`,
		"a.x.y.z":     `{"a":{"b":[{"c":1},{"c":2}],"x.y":{},"x":4,"":5},"d":6}`,
		"a[x.y][z]":   `{"a":{"b":[{"c":1},{"c":2}],"x.y":{},"x":4,"":5},"d":6}`,
		"a[]":         `{"a":{"b":[{"c":1},{"c":2}],"x.y":{"z":3},"x":4},"d":6}`,
		"a.x.unknown": `{"a":{"b":[{"c":1},{"c":2}],"x.y":{"z":3},"":5},"d":6}`,
		"nothing":     object,
		"":            object,
	} {
		got := tree.Literal([]byte(object))
		removePath(got, path)
		if !tree.Equal(got, tree.Literal([]byte(want))) {
			t.Errorf("%s: got %s, want %s", path, tree.Encode(got), want)
		}
	}
	last := tree.Literal([]byte(`{"l":[1]}`))
	if removePath(last, "l[0]"); string(tree.Encode(last)) != `{"l":[]}` {
		t.Errorf("a list without its last element is %s", tree.Encode(last))
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const object = `{"a":{"b":[{"c":1},{"c":2}]},"d":3}`
	for text, test := range map[string]struct {
		change Change
		want   string
	}{
		`.a.b[1].c = "x"`: {Change{Path: []any{"a", "b", 1, "c"}, Value: "x"}, `{"a":{"b":[{"c":1},{"c":"x"}]},"d":3}`},
		`no .d`:           {Change{Path: []any{"d"}, Remove: true}, `{"a":{"b":[{"c":1},{"c":2}]}}`},
		`.e["x/y"] = {}`:  {Change{Path: []any{"e", "x/y"}, Value: map[string]any{}}, object},
		`.a.b[2].c = 1`:   {Change{Path: []any{"a", "b", 2, "c"}, Value: int64(1)}, object},
		`no .d.e`:         {Change{Path: []any{"d", "e"}, Remove: true}, object},
	} {
		got := tree.Read([]byte(object))
		test.change.Apply(got)
		if !tree.Equal(got, tree.Read([]byte(test.want))) || test.change.String() != text {
			t.Errorf("%s: got %s, want %s: %s", test.change, tree.Encode(got), text, test.want)
		}
	}
}
