package jsondoc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// stringParts are the parts of strings: plain text and every escape.
func stringParts() []string {
	return []string{
		"a", "bc", "ü", "€", "😀", "\x7f", `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`,
		`\u0041`, `\u000a`, `\u00fC`, `\u20AC`, `\ud83d\ude00`, `\uFFFF`, `\u0000`,
	}
}

// literals are the single parts, and long random strings of them.
func literals() []string {
	all := stringParts()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts each time
	for range 500 {
		var text strings.Builder
		for range random.IntN(40) {
			text.WriteString(stringParts()[random.IntN(len(stringParts()))])
		}
		all = append(all, text.String())
	}
	return append(all, "")
}

// A string decodes as encoding/json does it, as a whole or part by part.
func TestWhatAStringStandsFor(t *testing.T) {
	t.Parallel()
	for _, literal := range literals() {
		quoted := []byte(`"` + literal + `"`)
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
		if got := jsondoc.Unquote(quoted); got != want {
			t.Errorf("%s decodes to %q, want %q", quoted, got, want)
		}
		if jsondoc.LongerThan(quoted, len(want)) || want != "" && !jsondoc.LongerThan(quoted, len(want)-1) {
			t.Errorf("%s is not taken for one of %d bytes", quoted, len(want))
		}
	}
}

// A member is found by its name in any spelling.
func TestNamesInEscapesAreFound(t *testing.T) {
	t.Parallel()
	for i, literal := range literals() {
		name := jsondoc.Unquote([]byte(`"` + literal + `"`))
		obj, err := jsondoc.ParseObject([]byte(`{"` + literal + `":{"` + literal + `":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := obj.Get(name, name); err != nil || string(got.Text()) != "1" {
			t.Errorf("%s: got %s (error %v)", literal, got.Text(), err)
		}
		for _, other := range []string{name + "a", "a" + name, strings.TrimSuffix(name, "a") + "b"} {
			if got, err := obj.Get(other); err != nil || got != nil {
				t.Errorf("%d: %s is found by %q (error %v)", i, literal, other, err)
			}
		}
	}
}

// The limit of names applies to decoded names, in all objects that are read and in none that is
// skipped.
func TestLimitOfNames(t *testing.T) {
	t.Parallel()
	name := func(letter string) string { return strings.Repeat(letter, 10) }
	tests := map[string]struct {
		text    string
		refused bool
	}{
		"as long as may be":   {`{"` + name("a") + `":1}`, false},
		"longer":              {`{"` + name("a") + `a":1}`, true},
		"escapes":             {`{"` + name(`\u0041`) + `":1}`, false},
		"escapes, longer":     {`{"` + name(`\u0041`) + `a":1}`, true},
		"two bytes each":      {`{"` + name("ü")[:10] + `":1}`, false},
		"nested":              {`{"metadata":{"` + name("a") + `a":1}}`, true},
		"what is skipped":     {`{"spec":{"` + name("a") + `a":1}}`, false},
		"of two, the latter":  {`{"a":1,"` + name("a") + `a":1}`, true},
		"a value, not a name": {`{"a":"` + name("a") + `a"}`, false},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := &jsondoc.Document{}
			d.Reset([]byte(tt.text))
			s, err := d.Scanner(jsondoc.MaxDepth)
			if err != nil {
				t.Fatal(err)
			}
			s.LimitNames(10)
			_, err = d.Outline(s, "metadata", nil)
			if refused := err != nil && strings.HasPrefix(err.Error(), "name longer than 10 bytes: byte "); refused != tt.refused {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Comparing names does not copy them.
func TestLongNamesAreNotCopied(t *testing.T) {
	const long = 1 << 20
	for name, text := range map[string]string{
		"plain":      strings.Repeat("a", long),
		"in escapes": `\n` + strings.Repeat("a", long),
	} {
		t.Run(name, func(t *testing.T) {
			var members strings.Builder
			for i := range 50 {
				fmt.Fprintf(&members, `"m%d":0,`, i)
			}
			var d jsondoc.Document
			outlines, err := outline(&d, []byte(`[{`+members.String()+`"`+text+`":0,"metadata":{"name":"a"}}]`))
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(10, func() {
				if _, found := d.Member(outlines[0], "metadata"); !found {
					t.Error("not found")
				}
				if at, found := d.Nested(outlines[0], "name"); !found || string(d.Text(at)) != `"a"` {
					t.Error("not found")
				}
			}); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
