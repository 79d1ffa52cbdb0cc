package roundtrip

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
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
		got := literal([]byte(object))
		removePath(got, path)
		if !equal(got, literal([]byte(want))) {
			t.Errorf("%s: got %s, want %s", path, encode(got), want)
		}
	}
	last := literal([]byte(`{"l":[1]}`))
	if removePath(last, "l[0]"); string(encode(last)) != `{"l":[]}` {
		t.Errorf("a list without its last element is %s", encode(last))
	}
}

func TestRemoveAll(t *testing.T) {
	t.Parallel()
	const object = `{"a":{"b":[{"c":1},{"c":2,"d":3}],"x/y":4},"m":{"j":{"n":1},"k":{"n":2}},"l":[1,2]}`
	for path, want := range map[string]string{
		".a.b":         `{"a":{"x/y":4},"m":{"j":{"n":1},"k":{"n":2}},"l":[1,2]}`,
		`.a["x/y"]`:    `{"a":{"b":[{"c":1},{"c":2,"d":3}]},"m":{"j":{"n":1},"k":{"n":2}},"l":[1,2]}`,
		".a.b[].c":     `{"a":{"b":[{},{"d":3}],"x/y":4},"m":{"j":{"n":1},"k":{"n":2}},"l":[1,2]}`,
		".a.b[c=2].d":  `{"a":{"b":[{"c":1},{"c":2}],"x/y":4},"m":{"j":{"n":1},"k":{"n":2}},"l":[1,2]}`,
		".m{}.n":       `{"a":{"b":[{"c":1},{"c":2,"d":3}],"x/y":4},"m":{"j":{},"k":{}},"l":[1,2]}`,
		".m{name}":     `{"a":{"b":[{"c":1},{"c":2,"d":3}],"x/y":4},"m":{},"l":[1,2]}`,
		".l[]":         `{"a":{"b":[{"c":1},{"c":2,"d":3}],"x/y":4},"m":{"j":{"n":1},"k":{"n":2}},"l":[null,null]}`,
		".l{}":         object,
		".l.x":         object,
		".a.b.c":       object,
		".nothing[].x": object,
		"":             object,
	} {
		p, err := parsePath(path)
		if err != nil && path != "" {
			t.Fatal(err)
		}
		got := literal([]byte(object))
		removeAll(got, p, isAny)
		if !equal(got, literal([]byte(want))) {
			t.Errorf("%s: got %s, want %s", path, encode(got), want)
		}
	}
}

func TestDecodedIsWhatTheAPIServerReads(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `{"a":[1,-0,1.0,1e3,9223372036854775807,9223372036854775808,-9223372036854775808,1.5,0.1e-7]}`,
		`{"a":{"b\u00e9\n":"\ud83d\ude00<\u003c"},"c":[true,false,null,[],{}],"":""}`, `{"a":1,"a":2}`, ` { "a" : [ 1 , 2 ] } `,
	} {
		var want map[string]any
		if err := utiljson.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got := decoded([]byte(text))
		a, errA := json.Marshal(want)
		b, errB := json.Marshal(got)
		if errA != nil || errB != nil || !equal(got, want) || !bytes.Equal(a, b) {
			t.Errorf("%s: got %s, want %s", text, b, a)
		}
		if !equal(copied(got), want) {
			t.Errorf("%s: copied %s", text, encode(copied(got)))
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b any
		want bool
	}{
		{int64(1), 1.0, true},
		{1.0, int64(1), true},
		{int64(9007199254740993), 9007199254740992.0, false},
		{int64(1), 1.5, false},
		{json.Number("1.10"), json.Number("1.1"), false},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		{map[string]any{"a": nil}, map[string]any{}, false},
		{map[string]any{}, []any{}, false},
		{[]any{}, map[string]any{}, false},
		{[]any{int64(1)}, []any{1.0}, true},
		{nil, nil, true},
		{"", nil, false},
	} {
		if equal(test.a, test.b) != test.want || equal(test.b, test.a) != test.want {
			t.Errorf("%v and %v: want %t", test.a, test.b, test.want)
		}
	}
}
