package hostile

import (
	"fmt"
	"strings"
)

// A document is JSON text, or not.
type document struct{ name, text string }

// acceptedDocuments are JSON by RFC 8259, every one of them.
func acceptedDocuments() []document {
	var docs []document
	for _, list := range [][]document{acceptedScalars(), acceptedEscapes(), acceptedStrings(), acceptedContainers(), acceptedSpace()} {
		docs = append(docs, list...)
	}
	return docs
}

func named(group string, texts ...string) []document {
	docs := make([]document, len(texts))
	for i, text := range texts {
		docs[i] = document{group + " " + shown(text), text}
	}
	return docs
}

// shown makes a text fit to be in a name.
func shown(text string) string {
	if len(text) > 40 {
		text = fmt.Sprintf("%.40s of %d", text, len(text))
	}
	return fmt.Sprintf("%+q", text)
}

func acceptedScalars() []document {
	docs := named("literal", "true", "false", "null")
	return append(docs, named("number",
		"0", "-0", "7", "-7", "10", "42", "-100", "0.0", "0.5", "-0.5", "1.0", "1.10", "3.14159", "1e1", "1E1", "1e+1", "1E+1", "1e-1",
		"1E-1", "0e0", "0E+0", "0e-0", "-0e0", "-0.0e-0", "0.1e9", "10.01E+02", "1e007", "9007199254740993", "-9223372036854775808",
		"18446744073709551615")...)
}

func acceptedEscapes() []document {
	docs := named("escape", `"\""`, `"\\"`, `"\/"`, `"\b"`, `"\f"`, `"\n"`, `"\r"`, `"\t"`)
	return append(docs, named("escaped code point",
		`"\u0000"`, `"\u001F"`, `"\u0022"`, `"\u005c"`, `"\u0061"`, `"\u007f"`, `"\u00e9"`, `"\u00E9"`, `"\u2028"`, `"\u2029"`,
		`"\uFEFF"`, `"\uFFFD"`, `"\uFFFE"`, `"\uffff"`, `"\uD7FF"`, `"\uE000"`, `"\uD83D\uDE00"`, `"\uDBFF\uDFFF"`,
		`"\ud800\udc00x"`, `"\\u0061"`, `"a\u0020b"`)...)
}

func acceptedStrings() []document {
	return named("string",
		`""`, `" "`, `"a"`, `"/"`, `"'"`, `"{}[],:"`, `"// no comment"`, `"/* nor this */"`, `"true"`, "\"\x7f\"", "\"\u0080\"", "\"\u00e9\"",
		"\"e\u0301\"", "\"\u2028\"", "\"\u2029\"", "\"\ufeff\"", "\"\uffff\"", "\"\U0001F600\"", "\"\U0010FFFF\"", "\"\u05d0\u202e\"",
		`"\\\"\\"`, `"`+strings.Repeat("long ", 40)+`"`)
}

func acceptedContainers() []document {
	docs := named("array",
		`[]`, `[ ]`, `[[]]`, `[[],[]]`, `[null]`, `[1,"a",true,null,[],{}]`, `[{}]`, `[""]`, `[1,1,1]`, `[[[[[[[[]]]]]]]]`, `[-1,-0]`,
		`[null,null,null,null]`)
	return append(docs, named("object",
		`{}`, `{ }`, `{"a":1}`, `{"a":1,"b":2}`, `{"":0}`, `{"a":{}}`, `{"a":{"a":{"a":{}}}}`, `{"a":[]}`, `{"a":null}`, `{"\u0061b":1}`,
		`{"a\"b":1}`, `{"\u0000":0}`, `{"a":1,"A":2}`, `{"ключ":"значение"}`, `{"a b":1}`, `{"__proto__":{}}`, `{"a.b":{"c/d":[{"e":1}]}}`)...)
}

func acceptedSpace() []document {
	docs := make([]document, 0, 16)
	for _, s := range []struct{ name, text string }{
		{"a space", " "}, {"a tab", "\t"}, {"a line feed", "\n"}, {"a carriage return", "\r"},
	} {
		docs = append(docs,
			document{s.name + " around a value", s.text + "1" + s.text},
			document{s.name + " in an array", "[" + s.text + "1" + s.text + "," + s.text + "2" + s.text + "]"},
			document{s.name + " in an object", `{` + s.text + `"a"` + s.text + `:` + s.text + `1` + s.text + `}`},
			document{s.name + " many times", strings.Repeat(s.text, 300) + "[]" + strings.Repeat(s.text, 300)},
		)
	}
	return docs
}
