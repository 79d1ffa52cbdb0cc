package tree

import (
	"bytes"
	"encoding/json"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

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
		p, err := ParsePath(path)
		if err != nil && path != "" {
			t.Fatal(err)
		}
		got := Literal([]byte(object))
		RemoveAll(got, p, IsAny)
		if !Equal(got, Literal([]byte(want))) {
			t.Errorf("%s: got %s, want %s", path, Encode(got), want)
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
		got := Read([]byte(text))
		a, errA := json.Marshal(want)
		b, errB := json.Marshal(got)
		if errA != nil || errB != nil || !Equal(got, want) || !bytes.Equal(a, b) {
			t.Errorf("%s: got %s, want %s", text, b, a)
		}
		if !Equal(Copy(got), want) {
			t.Errorf("%s: copied %s", text, Encode(Copy(got)))
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
		if Equal(test.a, test.b) != test.want || Equal(test.b, test.a) != test.want {
			t.Errorf("%v and %v: want %t", test.a, test.b, test.want)
		}
	}
}
