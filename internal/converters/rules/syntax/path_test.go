package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

func TestPathsAreReadBySegment(t *testing.T) {
	t.Parallel()
	type segments = []syntax.Segment
	field := func(name string) syntax.Segment { return syntax.Segment{Kind: syntax.Field, Name: name} }
	for text, want := range map[string]segments{
		".spec.host":                {field("spec"), field("host")},
		`.a["x/y"].b`:               {field("a"), field("x/y"), field("b")},
		`["a.b"]`:                   {field("a.b")},
		`.a["say \"\\\""]`:          {field("a"), field(`say "\"`)},
		`.a[""]`:                    {field("a"), field("")},
		".a[].b":                    {field("a"), {Kind: syntax.Elements}, field("b")},
		".a{}":                      {field("a"), {Kind: syntax.Values}},
		".a[name].v":                {field("a"), {Kind: syntax.KeyedElements, Name: "name"}, field("v")},
		".a{name}":                  {field("a"), {Kind: syntax.KeyedValues, Name: "name"}},
		".a[name=x y":               nil,
		".a[name=x].v":              {field("a"), {Kind: syntax.Pick, Name: "name", Value: "x"}, field("v")},
		`.a[name="x ]y"]`:           {field("a"), {Kind: syntax.Pick, Name: "name", Value: "x ]y"}},
		`.a[name=""]`:               {field("a"), {Kind: syntax.Pick, Name: "name"}},
		".a[0].b":                   {field("a"), {Kind: syntax.First}, field("b")},
		".$ref.x-y._z9":             {field("$ref"), field("x-y"), field("_z9")},
		".a[][].b":                  {field("a"), {Kind: syntax.Elements}, {Kind: syntax.Elements}, field("b")},
		`.metadata.labels[""` + "]": {field("metadata"), field("labels"), field("")},
	} {
		got, err := syntax.ParsePath(text)
		if want == nil {
			if err == nil {
				t.Errorf("ParsePath(%s) = %v, want an error", text, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("ParsePath(%s): %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got.Segments, cmpopts.IgnoreFields(syntax.Segment{}, "Offset", "End")); diff != "" {
			t.Errorf("ParsePath(%s) (-want +got):\n%s", text, diff)
		}
		for _, s := range got.Segments {
			if again, err := syntax.ParsePath(text[s.Offset:s.End]); err != nil || !again.Segments[0].Equal(s) {
				t.Errorf("ParsePath(%s): segment %v is at %d to %d", text, s, s.Offset, s.End)
			}
		}
	}
}

func TestPathErrorsPointAtTheSegment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":             "|the path is empty",
		".":            "^|a path names a field, not the whole object",
		"$.a":          "^|a path starts with a dot",
		"spec.a":       "^^^^|a path starts with a dot",
		".a.":          "  ^|the path ends in a dot",
		".a..b":        "  ^^|.. is not a segment",
		".a.*":         "   ^|* is not a segment",
		".a[*]":        "  ^^^|[*] is not a segment",
		".a[1].b":      "  ^^^|only the first element, [0], can be named by its index",
		".a[-1]":       "  ^^^^|only the first element, [0], can be named by its index",
		".a[].[b]":     "    ^|no dot belongs before [",
		".a.9x.b":      "   ^^|not a name that can follow a dot",
		".a.x/y":       "    ^|a segment starts with a dot, [ or {",
		".a['x']":      "   ^|a key needs double quotes",
		".a[name":      "  ^^^^^|[ is not closed",
		".a{name":      "  ^^^^^|{ is not closed",
		".a[na me]":    "     ^|does not belong between [ and ]",
		".a[name=]":    "  ^^^^^^|no value follows =",
		".a[name=x y]": "        ^^^|the value needs quotes",
		`.a["x`:        `   ^^|the quotes are not closed`,
		`.a["\n"]`:     `    ^^|only \" and \\ are escapes`,
		".a{9}":        "  ^^^|not a segment",
		".a[ ]":        "  ^^^|not a segment",
		".a b":         "  ^|a segment starts with a dot, [ or {",
		"ä":            "^^|a path starts with a dot",
	} {
		_, err := syntax.ParsePath(text)
		var wrong *syntax.PathError
		if !errors.As(err, &wrong) {
			t.Errorf("ParsePath(%s): %v, want a PathError", text, err)
			continue
		}
		got := strings.Repeat(" ", wrong.Offset) + strings.Repeat("^", wrong.End-wrong.Offset) + "|" + wrong.Problem
		if got != want {
			t.Errorf("ParsePath(%s)\n got %s\nwant %s", text, got, want)
		}
	}
}

// FuzzParsePath reads any text: nothing panics, what is read can be written and read again, and
// errors point into the text.
func FuzzParsePath(f *testing.F) {
	for _, text := range []string{
		"", ".", ".a.b", `.a["x/y"]`, ".a[].b", ".a{}", ".a[k].b{k}", ".a[k=v]", `.a[k="v]"]`, ".a[0]", ".a[1]", "..", "a", "[", "{",
		`.a["\\"]`, `.a["`, ".a[k", ".a[k=", ".é", ".a\x00", "[[]]", "[]{}", `.a[k=""]`, "\xff", ".a[\xff=\xff]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := syntax.ParsePath(text)
		if err != nil {
			var wrong *syntax.PathError
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.End < wrong.Offset || wrong.End > len(text) {
				t.Fatalf("ParsePath(%q): %#v", text, err)
			}
			return
		}
		if len(path.Segments) == 0 || path.Text != text {
			t.Fatalf("ParsePath(%q) = %+v", text, path)
		}
		end := 0
		for _, s := range path.Segments {
			if s.Offset != end || s.End <= end {
				t.Fatalf("ParsePath(%q): segment %+v does not start at %d", text, s, end)
			}
			end = s.End
		}
		again, err := syntax.ParsePath(path.String())
		if err != nil || end != len(text) {
			t.Fatalf("ParsePath(%q) writes %q, which gives %v", text, path, err)
		}
		same := func(a, b syntax.Segment) bool { return a.Equal(b) }
		if !cmp.Equal(path.Segments, again.Segments, cmp.Comparer(same)) {
			t.Fatalf("ParsePath(%q) writes %q, which reads %+v", text, path, again)
		}
	})
}
