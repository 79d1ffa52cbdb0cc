package hostile

import (
	"fmt"
	"strings"
)

// refusedDocuments are not JSON by RFC 8259, neither alone nor in a larger document, except for
// those that are named in embedded.
func refusedDocuments() []document {
	var docs []document
	for _, list := range [][]document{
		truncations(), controlCharacters(), badEscapes(), badNumbers(), badLiterals(), badStrings(), badArrays(), badObjects(), comments(),
		badStructure(), otherFormats(),
	} {
		docs = append(docs, list...)
	}
	return docs
}

// truncations ends a document after each of its bytes but the last.
func truncations() []document {
	const whole = `{"a":[1,-2.5e+3,"x\n\u00e9",true,null,{}],"b":{"c":false}}`
	docs := make([]document, 0, len(whole))
	for n := 1; n < len(whole); n++ {
		docs = append(docs, document{fmt.Sprintf("cut after byte %d", n), whole[:n]})
	}
	return docs
}

// controlCharacters has those that a string must not hold unescaped.
func controlCharacters() []document {
	docs := make([]document, 0, 0x20)
	for c := range byte(0x20) {
		docs = append(docs, document{fmt.Sprintf("control character %02x in a string", c), `"a` + string(rune(c)) + `b"`})
	}
	return docs
}

func badEscapes() []document {
	return named("escape",
		`"\a"`, `"\v"`, `"\0"`, `"\x41"`, `"\'"`, `"\U0041"`, `"\ "`, `"\e"`, `"\1"`, `"\`+"\n"+`"`, `"\é"`, `"\u"`, `"\u0"`, `"\u00"`,
		`"\u004"`, `"\u004g"`, `"\ug041"`, `"\u 041"`, `"\u+041"`, `"\u-041"`, `"\u0x41"`, `"\u{41}"`, `"\uD83D\u"`, `"\uD83D\uDE0"`)
}

func badNumbers() []document {
	return named("number",
		"-", "--1", "+1", "-+1", "00", "01", "-01", "012", "0123.4", ".5", "-.5", "1.", "-1.", "0.e1", "1.e1", "1e", "1E", "1e+", "1E-", "1ee1",
		"1e1.5", "1e1e1", "1.2.3", "0x1F", "0b1", "0o7", "1_000", "1f", "1L", "1n", "1 000", "1/2", "1a", "-a", "- 1", "$1", "#1",
		"NaN", "-NaN", "nan", "Infinity", "-Infinity", "inf", "+Inf", "\u0661\u0662", "\uff11", "\u00bd", "1\u00a0", "1e\u0661")
}

func badLiterals() []document {
	return named("literal",
		"tru", "truex", "TRUE", "True", "fals", "FALSE", "False", "nul", "nulll", "NULL", "Null", "None", "nil", "undefined", "yes", "on", "t", "f",
		"n", "truefalse", "true false", "true\x00", "-true", "nu\\u006cl")
}

func badStrings() []document {
	return named("string",
		`"`, `"a`, `a"`, `"a"b"`, `"a" "b"`, `"a"+"b"`, `'a'`, "`a`", "\u201ca\u201d", `"\"`, `\"a\"`, `"""`, `"a"\n`, `@"a"`, `r"a"`, `"a"x`)
}

func badArrays() []document {
	return named("array",
		`[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[,]`, `[1,,2]`, `[1 2]`, `[1;2]`, `[1:2]`, `["a":1]`, `[}`, `[1}`, `[[]`, `[]]`, `[1]x`, `[1][2]`, `[x]`,
		`(1)`, `<1>`, `[*]`, `[1...3]`, `[for x in y]`)
}

func badObjects() []document {
	return named("object",
		`{`, `}`, `{]`, `{,}`, `{"a"}`, `{"a":}`, `{"a",1}`, `{"a":1,}`, `{,"a":1}`, `{"a":1,,"b":2}`, `{"a":1 "b":2}`, `{"a":1;"b":2}`, `{"a" 1}`, `{"a"::1}`,
		`{"a"=1}`, `{"a"=>1}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{null:1}`, `{true:1}`, `{[]:1}`, `{{}:1}`, `{:1}`, `{"a":"b":"c"}`, `{"a":1}}`,
		`{"a":1}{"b":2}`, `{"a":1]`, `{"a":{"b":1}`, `{"a":x}`, `{""a"":1}`, `{"a":1,"b"}`, `{...{}}`)
}

func comments() []document {
	return named("comment",
		`// c`+"\n"+`1`, `1 // c`, `/* c */1`, `1/* c */`, `[1,/* c */2]`, `{"a":/* c */1}`, `# c`+"\n"+`1`, `1 # c`, `<!-- c -->1`, `-- c`+"\n"+`1`,
		`; c`+"\n"+`1`, `{//}`)
}

func badStructure() []document {
	docs := named("two documents", `1 2`, `{}{}`, `[][]`, `{} null`, "{}\n[]\n", "\x1e{}\n\x1e[]\n", `{}x`, `[] //`)
	return append(docs, []document{
		{"nothing", ""},
		{"white space alone", " \n\t\r "},
		{"a NUL byte", "\x00"},
		{"a NUL byte behind a value", "1\x00"},
		{"a vertical tab before a value", "\v1"},
		{"a form feed behind a value", "1\f"},
		{"a no-break space before a value", "\u00a01"},
		{"an ideographic space behind a value", "1\u3000"},
		{"a line separator behind a value", "1\u2028"},
		{"a zero width space before a value", "\u200b1"},
		{"a byte order mark behind a value", "1\ufeff"},
		{"a colon", ":"},
		{"a comma", ","},
		{"a backslash", `\`},
		{"an escaped brace", `\u007b}`},
		{"a hundred thousand open brackets", strings.Repeat("[", 100_000)},
		{"fifty thousand open objects", strings.Repeat(`{"a":`, 50_000)},
		{"a hundred thousand closing brackets", strings.Repeat("]", 100_000)},
	}...)
}

func otherFormats() []document {
	return []document{
		{"JSONP", `cb({"a":1})`},
		{"the prefix against JSON hijacking", ")]}',\n{}"},
		{"XML", `<?xml version="1.0"?><a/>`},
		{"an external entity", `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`},
		{"YAML", "a: 1\nb: [2]\n"},
		{"YAML with a tag", "!!python/object/apply:os.system [id]"},
		{"YAML's flow form with an alias", "[&a 1, *a]"},
		{"TOML", "a = 1\n"},
		{"a form", "a=1&b=2"},
		{"a multipart form", "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"},
		{"HTTP in a body", "POST /crdconvert HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"the magic of Kubernetes' protobuf", "k8s\x00\n\x04\n\x00\x12\x00"},
		{"JSON5", `{a:0x1F,b:'c',}`},
		{"a template", `{{ .Values.a }}`},
		{"a shell command", `$(id)`},
		{"base64 of JSON", "eyJhIjoxfQ"},
		{"a data URL", "data:application/json,{}"},
	}
}
