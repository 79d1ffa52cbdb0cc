package jsondoc_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

// Where a text is refused. FuzzScan has more texts that are, by RFC 8259.
func TestScanRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"nothing", "", "unexpected end of the text: byte 0"},
		{"white space only", " \n\t\r ", "unexpected end of the text: byte 5"},
		{"byte order mark", "\ufeff{}", "unexpected character: byte 0"},
		{"NUL at the end", "{}\x00", "data after the end of the document: byte 2"},
		{"unit separator behind 70 bytes", `"` + strings.Repeat("a", 70) + "\x1f\"", "unexpected character: byte 71"},
		{"unit separator in the first 64 bytes", `"` + strings.Repeat("a", 40) + "\x1f" + strings.Repeat("a", 70) + `"`, "unexpected character: byte 41"},
		{"short escape", `"\u12"`, "invalid escape in a string: byte 1"},
		{"escape at the end", `"\`, "invalid escape in a string: byte 1"},
		{"escaped quote at the end", `"\"`, "unexpected end of the text: byte 3"},
		{"high surrogate alone", `"\ud800"`, "invalid escape in a string: byte 1"},
		{"high surrogate and half an escape", `"\ud800\udc0"`, "invalid escape in a string: byte 1"},
		{"invalid UTF-8 outside of strings", "{}\x80", "invalid UTF-8: byte 2"},
		{"invalid UTF-8 behind U+FFFD and more", "[\"é\ufffd😀\",\"\xc3\"]", "invalid UTF-8: byte 14"},
		{"cut rune at the end", "\"\xe2\x82", "invalid UTF-8: byte 1"},
		{"leading zero", "01", "data after the end of the document: byte 1"},
		{"leading zero in a list", "[01]", "unexpected character: byte 2"},
		{"lone minus", "-", "invalid number: byte 1"},
		{"no fraction", "1.", "invalid number: byte 2"},
		{"no exponent", "1e", "invalid number: byte 2"},
		{"fractional exponent", "1e1.5", "data after the end of the document: byte 3"},
		{"half a literal", "tru", "invalid literal: byte 0"},
		{"misspelt literal", "[nul1]", "invalid literal: byte 1"},
		{"literal with a tail", "nullx", "data after the end of the document: byte 4"},
		{"two documents in lines", "{}\n{}", "data after the end of the document: byte 3"},
		{"trailing comma in an object", `{"a":1,}`, "unexpected character: byte 7"},
		{"no colon", `{"a" 1}`, "unexpected character: byte 5"},
		{"unclosed object", `{"a":1`, "unexpected end of the text: byte 6"},
		{"unclosed array", "[[]", "unexpected end of the text: byte 3"},
		{"unclosed long string", `"` + strings.Repeat("a", 100), "unexpected end of the text: byte 101"},
		{"object closed as an array", `{"a":1]`, "unexpected character: byte 6"},
		{"wrong end behind 64 levels", strings.Repeat("[", 64) + "{}" + strings.Repeat("]", 63) + "}", "unexpected character: byte 129"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := scan([]byte(test.text), jsondoc.MaxDepth)
			if err == nil || err.Error() != test.want {
				t.Errorf("%.90q: got %v, want %s", test.text, err, test.want)
			}
			if accepted, disagreement := verdict([]byte(test.text)); accepted || disagreement != "" {
				t.Errorf("%.90q: the libraries accept it: %s", test.text, disagreement)
			}
			// The same inside an object, which Members and Outline read.
			for _, text := range []string{`{"a":[` + test.text, `{"metadata":{"a":[` + test.text} {
				if _, err := jsondoc.ParseObject([]byte(text)); err == nil {
					t.Errorf("%.90q: ParseObject accepts it", text)
				}
			}
		})
	}
}

func TestScanDepth(t *testing.T) {
	t.Parallel()
	arrays := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	mixed := func(n int) string {
		return strings.Repeat(`[{"a":`, n/2) + arrays(n%2) + "0"[n%2:] + strings.Repeat("}]", n/2)
	}
	tests := []struct {
		name     string
		text     string
		maxDepth int
		want     string
	}{
		{"511 arrays", arrays(511), 512, ""},
		{"512 arrays", arrays(512), 512, ""},
		{"513 arrays", arrays(513), 512, "nested too deep, an object may have 512 levels: byte 512"},
		{"511 objects", objects(511), 512, ""},
		{"512 objects", objects(512), 512, ""},
		{"513 objects", objects(513), 512, "nested too deep, an object may have 512 levels: byte 2560"},
		{"511 of both", mixed(511), 512, ""},
		{"512 of both", mixed(512), 512, ""},
		{"513 of both", mixed(513), 512, "nested too deep, an object may have 512 levels: byte 1536"},
		{"512 in an array is 513", "[" + mixed(512) + "]", 512, "nested too deep, an object may have 512 levels: byte 1532"},
		{"1024, the most", mixed(1024), 5000, ""},
		{"1025", mixed(1025), 5000, "nested too deep, an object may have 512 levels: byte 3072"},
		{"no level allowed", "[]", 0, "nested too deep, an object may have 512 levels: byte 0"},
		{"no level needed", "1", 0, ""},
		{"a million unclosed arrays", strings.Repeat("[", 1_000_000), 512, "nested too deep, an object may have 512 levels: byte 512"},
		{"a million unclosed objects", strings.Repeat(`{"a":`, 1_000_000), 512, "nested too deep, an object may have 512 levels: byte 2560"},
		{"wide, not deep", "[" + strings.Repeat("[{}],", 100_000) + "0]", 3, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := []byte(test.text)
			if err := scan(text, test.maxDepth); fmt.Sprint(err) != orNil(test.want) {
				t.Errorf("Skip: got %v, want %s", err, orNil(test.want))
			}
			if err := descend(text, test.maxDepth); fmt.Sprint(err) != orNil(test.want) {
				t.Errorf("Members and Elements: got %v, want %s", err, orNil(test.want))
			}
		})
	}
}

func orNil(problem string) string {
	if problem == "" {
		return "<nil>"
	}
	return problem
}

// TestScanDepthIsCountedOn skips a value below other levels.
func TestScanDepthIsCountedOn(t *testing.T) {
	t.Parallel()
	for levels, want := range map[int]string{509: "", 510: "", 511: "nested too deep, an object may have 512 levels: byte 516"} {
		text := `{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `,"b":[[]]}`
		s, err := jsondoc.NewScanner([]byte("["+text+"]"), jsondoc.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Elements(func() error { return s.Members(func([]byte) error { _, err := s.Skip(); return err }) })
		if fmt.Sprint(err) != orNil(want) {
			t.Errorf("%d levels below two: got %v, want %s", levels, err, orNil(want))
		}
	}
}

// descend reads a text only through Members and Elements.
func descend(text []byte, maxDepth int) error {
	s, err := jsondoc.NewScanner(text, maxDepth)
	if err != nil {
		return err
	}
	var visit func() error
	visit = func() error {
		switch s.Kind() {
		case jsondoc.Map:
			return s.Members(func([]byte) error { return visit() })
		case jsondoc.Array:
			return s.Elements(visit)
		default:
			_, err := s.Skip()
			return err
		}
	}
	if err := visit(); err != nil {
		return err
	}
	return s.End()
}

//nolint:paralleltest // it counts what the process takes
func TestScanOfHostileTextIsCheap(t *testing.T) {
	many := func(format string) func(n int) string {
		return func(n int) string {
			var text strings.Builder
			text.WriteString("{")
			for i := range n / 10 {
				fmt.Fprintf(&text, format, i)
			}
			return text.String() + `"end":0}`
		}
	}
	for name, text := range map[string]func(n int) string{
		"brackets":             func(n int) string { return strings.Repeat("[", n) },
		"empty arrays":         func(n int) string { return "[" + strings.Repeat("[],", n) + "0]" },
		"members":              many(`"name%d":0,`),
		"members with escapes": many(`"\u0061%d":0,`),
		"quotes":               func(n int) string { return strings.Repeat(`"`, n+1) },
		"backslashes":          func(n int) string { return `"` + strings.Repeat(`\`, n) + `"` },
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			costtest.Linear(t, 250_000, func(n int) func() {
				text := []byte(text(n))
				return func() {
					if err := descend(text, jsondoc.MaxDepth); err != nil && problemOf(err) == err.Error() {
						t.Error(err)
					}
				}
			})
			runtime.ReadMemStats(&after)
			if grown := int64(after.StackInuse) - int64(before.StackInuse); grown > 8<<20 {
				t.Errorf("the stack grew by %d bytes", grown)
			}
		})
	}
}

func TestMembersFindRepeatedNames(t *testing.T) {
	t.Parallel()
	many := func(n int, more ...string) string {
		names := make([]string, 0, n+len(more))
		for i := range n {
			names = append(names, fmt.Sprintf(`"n%d":%d`, i, i))
		}
		return "{" + strings.Join(append(names, more...), ",") + "}"
	}
	const tooMany = "too many members in one object"
	tests := []struct{ name, text, want string }{
		{"none", `{"a":1,"b":2,"ab":3,"ba":4,"":5}`, ""},
		{"plain", `{"a":1,"b":2,"a":3}`, "duplicate name"},
		{"empty", `{"":1,"":2}`, "duplicate name"},
		{"second in escapes", `{"metadata":1,"metad\u0061ta":2}`, "duplicate name"},
		{"first in escapes", `{"metad\u0061ta":1,"metadata":2}`, "duplicate name"},
		{"both in escapes", `{"metad\u0061ta":1,"\u006detadata":2}`, "duplicate name"},
		{"hexadecimal digits of both cases", `{"\u00Af":1,"\u00aF":2}`, "duplicate name"},
		{"escaped slash", `{"a/b":1,"a\/b":2}`, "duplicate name"},
		{"surrogate pair and the rune", `{"😀":1,"\ud83d\ude00":2}`, "duplicate name"},
		{"NUL", `{"a\u0000":1,"a":2}`, ""},
		{"case", `{"a":1,"A":2}`, ""},
		{"composed and decomposed", "{\"\u00e9\":1,\"e\u0301\":2}", ""},
		{"an escape and its own text", `{"a\\n":1,"a\n":2}`, ""},
		{"in a value only", `{"a":{"a":1,"a":2},"b":[{"a":1,"a":2}]}`, ""},
		{"31", many(31), ""},
		{"32 and one again", many(32, `"n0":0`), "duplicate name"},
		{"33 and the last again", many(33, `"n32":0`), "duplicate name"},
		{"34 and one again in escapes", many(34, `"\u006e33":0`), "duplicate name"},
		{"31 and an escaped one, which comes again", many(31, `"\u0061":0`, `"b":0`, `"a":0`), "duplicate name"},
		{"5000", many(5000), ""},
		{"5000 and the first again", many(5000, `"n0":0`), "duplicate name"},
		{"5000 and one of the middle again", many(5000, `"n2500":0`), "duplicate name"},
		{"as many as are allowed", many(1 << 18), ""},
		{"one more", many(1<<18 + 1), tooMany},
		{"as many as are allowed, and a repeated one", many(1<<18, `"n7":0`), "duplicate name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := jsondoc.NewScanner([]byte(test.text), jsondoc.MaxDepth)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Members(func([]byte) error { _, err := s.Skip(); return err })
			if got := problemOf(err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if _, err := jsondoc.ParseObject([]byte(`{"metadata":` + test.text + "}")); problemOf(err) != test.want {
				t.Errorf("ParseObject of it as metadata: got %v, want %q", err, test.want)
			}
		})
	}
}

func problemOf(err error) string {
	if syntax, ok := errors.AsType[*jsondoc.SyntaxError](err); ok {
		return syntax.Problem
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestScannerStopsAtErrors(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	tests := []struct {
		name, text string
		read       func(s *jsondoc.Scanner) error
		want       string
	}{
		{"error of visit", `{"a":1}`, func(s *jsondoc.Scanner) error { return s.Members(func([]byte) error { return stop }) }, "stop"},
		{"visit that does not move", `{"a":1}`, func(s *jsondoc.Scanner) error {
			return s.Members(func([]byte) error { return nil })
		}, "unexpected character: byte 5"},
		{"Members of an array", `[1]`, func(s *jsondoc.Scanner) error {
			return s.Members(func([]byte) error { return stop })
		}, "unexpected character: byte 0"},
		{"Elements of an object", `{}`, func(s *jsondoc.Scanner) error {
			return s.Elements(func() error { return stop })
		}, "unexpected character: byte 0"},
		{"End before the end", `1`, (*jsondoc.Scanner).End, "data after the end of the document: byte 0"},
		{"the first error stays", `[x]`, func(s *jsondoc.Scanner) error {
			_, first := s.Skip()
			_, second := s.Skip()
			if first == nil || second == nil || s.End() == nil {
				return errors.New("an error was forgotten")
			}
			return second
		}, "unexpected character: byte 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := jsondoc.NewScanner([]byte(test.text), jsondoc.MaxDepth)
			if err != nil {
				t.Fatal(err)
			}
			if err := test.read(&s); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
