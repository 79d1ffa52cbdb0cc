package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		value jsondoc.Value
		want  string
	}{
		{"zero", jsondoc.Value{}, "null"},
		{"least integer", jsondoc.IntValue(math.MinInt64), "-9223372036854775808"},
		{"most integer", jsondoc.IntValue(math.MaxInt64), "9223372036854775807"},
		{"empty string", jsondoc.StringValue(""), `""`},
		{"string that needs escapes", jsondoc.StringValue("\"\\\x00\x1f\n"), `"\"\\\u0000\u001f\u000a"`},
		{"string that needs none", jsondoc.StringValue("</a>&'\u007f\u2028é😀"), "\"</a>&'\u007f\u2028é😀\""},
		{"string that is not UTF-8", jsondoc.StringValue("a\xff\xc3b"), "\"a\ufffd\ufffdb\""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := string(test.value.Text()); got != test.want || !json.Valid([]byte(got)) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			o := parse(t, `{}`)
			if err := o.Set(test.value, "v"); err != nil || string(o.Text()) != `{"v":`+test.want+"}" {
				t.Errorf("set: %v, %s", err, o.Text())
			}
			if n := get(t, o, "v"); n.Kind() == jsondoc.Invalid || string(n.Text()) != test.want {
				t.Errorf("got back %s", n.Text())
			}
		})
	}
}

func TestRawValue(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want, err string }{
		{"white space around", " \n{ \"a\" : 1.10 }\t", `{ "a" : 1.10 }`, ""},
		{"number", "1e400", "1e400", ""},
		{"nothing", "", "", "unexpected end of the text: byte 0"},
		{"two values", "1 2", "", "data after the end of the document: byte 2"},
		{"invalid", "[1,]", "", "unexpected character: byte 3"},
		{"invalid UTF-8", "\"\xff\"", "", "invalid UTF-8: byte 1"},
		{"too deep", strings.Repeat("[", 513) + strings.Repeat("]", 513), "", "nested too deep, an object may have 512 levels: byte 512"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v, err := jsondoc.RawValue([]byte(test.text))
			if firstLine(err) != test.err || err == nil && string(v.Text()) != test.want {
				t.Errorf("got %s, %v", v.Text(), err)
			}
		})
	}
}

// TestDeepValues nests values deeper than a scanner reads: an error, not a panic.
func TestDeepValues(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":{}}`)
	deepest := raw(t, strings.Repeat("[", 512)+strings.Repeat("]", 512))
	path := strings.Fields(strings.Repeat("a ", 600))
	if err := o.Set(deepest, path...); err != nil {
		t.Fatal(err)
	}
	if n := get(t, o, path...); !bytes.Equal(n.Text(), deepest.Text()) {
		t.Error("the value is another one")
	}
	outer := parse(t, `{}`)
	if err := outer.Set(get(t, o, "a").Value(), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := outer.Get("x", "a"); err == nil || err.Error() != "nested too deep, an object may have 512 levels: .x" {
		t.Errorf("got %v", err)
	}
	if !json.Valid(outer.Text()) {
		t.Error("the text is not valid")
	}
}
