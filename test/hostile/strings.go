package hostile

import "strings"

// stringCases pin texts as a value that no rule touches, as one that is moved, and, where they are
// no text at all, what is said of them.
func stringCases() []Case {
	var cases []Case
	add := func(name string, position string, in, out string) {
		cases = append(cases, Case{
			Set: Strings, Name: name, Position: position, Request: Request{Body: fixed(review(in))},
			Want: converted(upgrade(), 1, fixed(success(out))),
		})
	}
	for _, s := range exactStrings() {
		add(s.name, "untouched", holding(from, s.literal), holding(to, s.literal))
		add(s.name, "moved", cronTab(from, `"hostPort":`+s.literal), cronTab(to, `"host":`+s.moved))
	}
	for _, s := range badTexts() {
		cases = append(cases, Case{
			Set: Strings, Name: s.name, Request: Request{Body: fixed(review(s.object))}, Want: refused(s.problem), Unsettled: s.unsettled,
		})
	}
	return cases
}

// An exactString is a string literal without a colon in it, and what it is when it has been moved:
// shortest.
type exactString struct{ name, literal, moved string }

func exactStrings() []exactString {
	raw := func(name, text string) exactString { return exactString{name, `"` + text + `"`, `"` + text + `"`} }
	return []exactString{
		raw("empty", ""),
		raw("white space", " \u00a0\u3000 "),
		raw("a delete character", "\x7f"),
		raw("control characters above ASCII", "\u0080\u0085\u009f"),
		raw("two, three and four bytes", "\u00e9\u20ac\U0001F600"),
		raw("composed and decomposed", "\u00e9e\u0301"),
		raw("joined by zero width joiners", "\U0001F469\u200d\U0001F469\u200d\U0001F467"),
		raw("a byte order mark", "\ufeff"),
		raw("changes of direction", "\u202e\u2066\u05d0\u2069\u200f"),
		raw("line and paragraph separators", "\u2028\u2029"),
		raw("noncharacters", "\ufdd0\ufffe\uffff\U0010ffff"),
		raw("the replacement character", "\ufffd"),
		raw("tags and variation selectors", "\U000e0041\ufe0f"),
		raw("HTML", "<script>&amp;'</script>"),
		raw("format verbs", "%s%n%!d(MISSING)%%"),
		raw("template braces", "{{.}}${x}$(x)"),
		{"all escapes", `"\"\\\/\b\f\n\r\t"`, `"\"\\/\u0008\u000c\u000a\u000d\u0009"`},
		{"an escaped NUL", `"\u0000"`, `"\u0000"`},
		{"escaped letters", `"\u0041\u00e9\u20AC"`, "\"A\u00e9\u20ac\""},
		{"an escaped surrogate pair", `"\uD83D\uDE00"`, "\"\U0001F600\""},
		{"an escaped escape", `"\\u0041\\n"`, `"\\u0041\\n"`},
		{"escaped separators", `"\u2028\ufeff"`, "\"\u2028\ufeff\""},
		{"escaped HTML", `"\u003c\u003e\u0026"`, `"<>&"`},
		{"a MiB", `"` + strings.Repeat("x", 1<<20) + `"`, `"` + strings.Repeat("x", 1<<20) + `"`},
	}
}

// A badText is an object with a string that is not text.
type badText struct {
	name, object, problem string
	unsettled             bool
}

func badTexts() []badText {
	const surrogate, invalid = "invalid escape in a string", "invalid UTF-8"
	inMetadata := func(metadata string) string { return withMetadata(from, metadata) }
	texts := []badText{
		{"a lone surrogate in a value", holding(from, `"\ud800"`), surrogate, true},
		{"a lone surrogate in a name", holding(from, `{"\udc00":1}`), surrogate, true},
		{"a lone surrogate in a label", inMetadata(`{"labels":{"a":"\ud800"}}`), surrogate, true},
		{"a lone surrogate in the version", typed(`"example.com/\ud800"`, `"CronTab"`), surrogate, true},
		{"a surrogate pair the wrong way round", holding(from, `"\ude00\ud83d"`), surrogate, true},
		{"half a surrogate pair at the end", cronTab(from, `"hostPort":"a\ud83d"`), surrogate, true},
		{"a byte of ISO 8859-1 in a value", holding(from, "\"caf\xe9\""), invalid, true},
		{"a byte of ISO 8859-1 in a name", holding(from, "{\"caf\xe9\":1}"), invalid, true},
		{"an overlong slash in the version", typed("\"example.com\xc0\xafv1beta1\"", `"CronTab"`), invalid, true},
		{"an overlong NUL", holding(from, "\"\xc0\x80\""), invalid, true},
		{"a surrogate in UTF-8", holding(from, "\"\xed\xa0\x80\""), invalid, true},
		{"a code point beyond the last", holding(from, "\"\xf4\x90\x80\x80\""), invalid, true},
		{"half a character at the end", cronTab(from, "\"hostPort\":\"a\xe2\x82\""), invalid, true},
		{"a NUL in a value", holding(from, "\"a\x00b\""), "unexpected character", false},
		{"a line feed in a value", holding(from, "\"a\nb\""), "unexpected character", false},
		{"a terminal escape in a name", holding(from, "{\"\x1b[2J\":1}"), "unexpected character", false},
	}
	return texts
}
