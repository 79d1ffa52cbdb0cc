package hostile

// transformCases pin what becomes of text that other parsers change: of a field that no rule
// touches, and of hostPort, which becomes host and port. A string that moves is written again, with
// no escapes but those that RFC 8259 demands.
func transformCases() []Case {
	cases := make([]Case, 0, 32)
	for _, t := range []struct{ name, text string }{
		{"a number with a trailing zero", `1.0`},
		{"a number with an exponent", `1E+2`},
		{"a negative zero", `-0`},
		{"a number that a float64 rounds", `1.000000000000000005`},
		{"an integer that a float64 rounds", `9007199254740993`},
		{"an integer beyond int64", `-9223372036854775809`},
		{"names in an odd order", `{"b":1,"a":2,"10":3,"9":4}`},
		{"one name twice with one value", `{"a":1,"a":1}`},
		{"one name twice with two values", `{"a":1,"a":2}`},
		{"one name escaped and not", `{"a":1,"\u0061":2}`},
		{"names that differ in case", `{"Name":1,"name":2,"NAME":3}`},
		{"names composed and decomposed", "{\"\u00e9\":1,\"e\u0301\":2}"},
		{"a string composed", "\"\u00e9\""},
		{"a string decomposed", "\"e\u0301\""},
		{"an escaped NUL", `"a\u0000b"`},
		{"an escaped surrogate pair", `"\uD83D\uDE00"`},
		{"needless escapes", `"\u0041\/\u003c\u003e\u0026"`},
		{"a noncharacter", `"\uFFFF"`},
	} {
		cases = append(cases, Case{
			Set: Transform, Name: t.name,
			Request: Request{Body: fixed(review(holding(from, t.text)))},
			Want:    converted(upgrade(), 1, fixed(success(holding(to, t.text)))),
		})
	}
	for _, t := range []struct{ name, hostPort, members string }{
		{"moved: composed and decomposed", "\"\u00e9:e\u0301\"", "\"host\":\"\u00e9\",\"port\":\"e\u0301\""},
		{"moved: an escaped NUL", `"a\u0000b:1"`, `"host":"a\u0000b","port":"1"`},
		{"moved: an escaped surrogate pair", `"\uD83D\uDE00:1"`, "\"host\":\"\U0001F600\",\"port\":\"1\""},
		{"moved: needless escapes", `"\u0041\/\u003c:\u003e\u0026"`, `"host":"A/<","port":">&"`},
		{"moved: escapes that are needed", `"\"\\:\b\f\n\r\t\u001f"`, `"host":"\"\\","port":"\u0008\u000c\u000a\u000d\u0009\u001f"`},
		{"moved: a noncharacter and a separator", `"\uFFFF:\u2028"`, "\"host\":\"\uffff\",\"port\":\"\u2028\""},
	} {
		cases = append(cases, Case{
			Set: Transform, Name: t.name,
			Request: Request{Body: fixed(review(cronTab(from, `"hostPort":`+t.hostPort)))},
			Want:    converted(upgrade(), 1, fixed(success(cronTab(to, t.members)))),
		})
	}
	return cases
}
