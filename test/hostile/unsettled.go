package hostile

import "strings"

// An unsettledDocument is one that parsers differ about (RFC 8259, sections 4, 6, 8 and 9). The
// problems are webhookd's, by where the document is. Empty means none.
type unsettledDocument struct {
	document

	asBody, asObject, asValue string
}

func unsettledDocuments() []unsettledDocument {
	var docs []unsettledDocument
	for _, list := range [][]unsettledDocument{surrogates(), invalidUTF8(), extremeNumbers(), repeatedNames(), deepNesting(), longTexts()} {
		docs = append(docs, list...)
	}
	return docs
}

// everywhere has documents with the same problem wherever they are.
func everywhere(problem string, docs ...document) []unsettledDocument {
	list := make([]unsettledDocument, len(docs))
	for i, d := range docs {
		list[i] = unsettledDocument{document: d, asBody: problem, asObject: problem, asValue: problem}
	}
	return list
}

func surrogates() []unsettledDocument {
	return everywhere("invalid escape in a string", named("surrogates",
		`"\ud800"`, `"\udbff"`, `"\udc00"`, `"\udfff"`, `"\ud800\ud800"`, `"\udc00\ud800"`, `"\ud800a"`, `"\ud800\n"`, `"\ud800\u0041"`,
		`"a\ud83d b"`, `{"\ud800":1}`, `["\uDEAD"]`)...)
}

func invalidUTF8() []unsettledDocument {
	docs := everywhere("invalid UTF-8", named("bytes",
		"\"\x80\"", "\"\xbf\"", "\"\xc0\xaf\"", "\"\xc1\xbf\"", "\"\xc3\"", "\"\xc3\x28\"", "\"\xe0\x80\xaf\"", "\"\xe2\x82\"", "\"\xed\xa0\x80\"",
		"\"\xed\xa0\xbd\xed\xb8\x80\"", "\"\xf0\x80\x80\xaf\"", "\"\xf0\x9f\x98\"", "\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"", "\"\xfe\"",
		"\"\xff\"", "\"caf\xe9\"", "{\"\xff\":1}", "\xff", "1\xff", "\xff\xfe1\x00", "\xfe\xff\x001")...)
	return append(docs, everywhere("unexpected character", named("bytes",
		"\xef\xbb\xbf{}", "\xef\xbb\xbf1", "\x00[\x00]", "[\x00]\x00", "\x00\x00\x001")...)...)
}

func extremeNumbers() []unsettledDocument {
	return everywhere("", named("number",
		"1e400", "-1e400", "1e-400", "1e+99999999999999999999", "-0e-99999999999999999999", "123456789e100000",
		strings.Repeat("9", 100), "-"+strings.Repeat("1", 400), "0."+strings.Repeat("0", 300)+"1", "1."+strings.Repeat("3", 400), "9223372036854775808",
		"18446744073709551616", "0.1000000000000000055511151231257827021181583404541015625")...)
}

// repeatedNames are refused where webhookd or the API server looks for names: in the envelope, and
// at the top of an object.
func repeatedNames() []unsettledDocument {
	docs := named("repeated names",
		`{"a":1,"a":1}`, `{"a":1,"a":2}`, `{"a":1,"b":2,"a":3}`, `{"a":1,"\u0061":2}`, `{"":0,"":0}`, `{"a":{},"a":null}`)
	list := make([]unsettledDocument, len(docs))
	for i, d := range docs {
		list[i] = unsettledDocument{document: d, asBody: "duplicate name", asObject: "duplicate name"}
	}
	return list
}

// deepNesting counts the levels of the object around a value, and those of the review around an
// object.
func deepNesting() []unsettledDocument {
	const tooDeep = "nested too deep, an object may have 512 levels"
	arrays := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	return []unsettledDocument{
		{document: document{"510 arrays in each other", arrays(510)}},
		{document: document{"511 arrays in each other", arrays(511)}, asValue: tooDeep},
		{document: document{"512 arrays in each other", arrays(512)}, asValue: tooDeep},
		{document: document{"513 arrays in each other", arrays(513)}, asValue: tooDeep, asObject: tooDeep},
		{document: document{"515 arrays in each other", arrays(515)}, asValue: tooDeep, asObject: tooDeep},
		{document: document{"516 arrays in each other", arrays(516)}, asValue: tooDeep, asObject: tooDeep, asBody: tooDeep},
		{document: document{"510 objects in each other", objects(510)}},
		{document: document{"512 objects in each other", objects(512)}, asValue: tooDeep},
		{document: document{"513 objects in each other", objects(513)}, asValue: tooDeep, asObject: tooDeep},
		{document: document{"10000 arrays in each other", arrays(10_000)}, asValue: tooDeep, asObject: tooDeep, asBody: tooDeep},
	}
}

func longTexts() []unsettledDocument {
	docs := everywhere("",
		document{"a string of 1 MiB", `"` + strings.Repeat("x", 1<<20) + `"`},
		document{"a string of 100000 escapes", `"` + strings.Repeat(`\u0041`, 100_000) + `"`},
		document{"64 KiB of white space", strings.Repeat(" \n", 1<<15) + "1"},
	)
	return append(docs, unsettledDocument{
		document: document{"a name of 64 KiB", `{"` + strings.Repeat("n", 1<<16) + `":1}`}, asBody: longName, asObject: longName,
	})
}

const longName = "name longer than 1024 bytes"
