package hostile

import (
	"net/http"
	"strings"
)

// MaxBody is the largest body of the webhookd that the cases are for, in bytes (max-body).
const MaxBody = 32 << 20

func sizeCases() []Case {
	var cases []Case
	for _, list := range [][]Case{atTheLimit(), lyingLengths(), encodings(), deepBodies(), wideBodies()} {
		cases = append(cases, list...)
	}
	for i := range cases {
		c := &cases[i]
		c.Set = Sizes
		// Limits are webhookd's own, and a server may answer a message that is not complete (RFC
		// 9112, section 8).
		c.Unsettled = c.Want.Result != Success && c.Name != "no body"
	}
	return cases
}

// padded is a review of n bytes.
func padded(n int) Text {
	return func() string {
		body := review(object())
		return body + strings.Repeat(" ", n-len(body))
	}
}

func atTheLimit() []Case {
	tooLarge := turnedAway(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
		"request body of 33554433 bytes is larger than webhookd accepts: max-body is 33554432 bytes").closed()
	inChunks := turnedAway(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
		"body is larger than 33554432 bytes, raise max-body or send fewer objects at once").closed()
	return []Case{
		{Name: "one byte less than the limit", Request: Request{Body: padded(MaxBody - 1)}, Want: done()},
		{Name: "as large as the limit", Request: Request{Body: padded(MaxBody)}, Want: done()},
		{Name: "one byte more than the limit", Request: Request{Body: padded(MaxBody + 1)}, Want: tooLarge},
		{Name: "as large as the limit, in chunks", Request: Request{Body: padded(MaxBody), Chunked: true}, Want: done()},
		{Name: "one byte more than the limit, in chunks", Request: Request{Body: padded(MaxBody + 1), Chunked: true}, Want: inChunks},
		{Name: "small, in chunks", Request: Request{Body: padded(1000), Chunked: true}, Want: done()},
		{
			Name: "a length of 8 EiB", Request: Request{Body: fixed(""), Length: 1<<63 - 1},
			Want: turnedAway(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "request body of 9223372036854775807 bytes is larger").closed(),
		},
	}
}

func lyingLengths() []Case {
	body := review(object())
	ended := turnedAway(http.StatusBadRequest, "BadRequest", "body ended early, send as much as Content-Length says")
	return []Case{
		{Name: "one byte less than promised", Request: Request{Body: fixed(body), Length: int64(len(body)) + 1}, Want: ended},
		{Name: "nothing of what was promised", Request: Request{Body: fixed(""), Length: 100}, Want: ended},
		{Name: "a tenth of what was promised", Request: Request{Body: fixed(body), Length: int64(10 * len(body))}, Want: ended},
		{Name: "no body", Request: Request{Body: fixed("")}, Want: refused(notJSON + "unexpected end of the text: byte 0")},
		{Name: "no body, in chunks", Request: Request{Body: fixed(""), Chunked: true}, Want: refused(notJSON + "unexpected end of the text: byte 0")},
	}
}

func encodings() []Case {
	compressed := func(name string, header ...string) Case {
		return Case{
			Name: name, Request: Request{Body: padded(1000), Header: append([]string{"Content-Type: application/json"}, header...)},
			Want: turnedAway(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "compressed requests are not supported: send the body without Content-Encoding"),
		}
	}
	return []Case{
		compressed("Content-Encoding gzip", "Content-Encoding: gzip"),
		compressed("Content-Encoding zstd", "Content-Encoding: zstd"),
		compressed("Content-Encoding br", "Content-Encoding: br"),
		compressed("two Content-Encodings", "Content-Encoding: identity", "Content-Encoding: deflate"),
		{
			Name: "Content-Encoding identity", Want: done(),
			Request: Request{Body: padded(1000), Header: []string{"Content-Type: application/json", "Content-Encoding: Identity"}},
		},
	}
}

const tooDeep = "nested too deep, an object may have 512 levels"

func deepBodies() []Case {
	return []Case{
		{Name: "a million open brackets", Request: Request{Body: func() string { return strings.Repeat("[", 1_000_000) }}, Want: refused(tooDeep)},
		{
			Name: "a million levels in a field that is ignored", Want: refused(tooDeep),
			Request: Request{Body: func() string {
				return enveloped(rightVersion, rightKind, rightRequest()+`,"x":`+strings.Repeat("[", 1_000_000)+strings.Repeat("]", 1_000_000))
			}},
		},
	}
}

func wideBodies() []Case {
	list := func(element string, n int) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"n` + base36(i) + `":0`)
		}
		return b.String()
	}
	arrays := func(apiVersion string, n int) string { return holding(apiVersion, "["+list("[]", n)+"]") }
	deepNames := func(apiVersion string) string { return holding(apiVersion, "{"+names(1_000_000)+"}") }
	return []Case{
		{
			Name: "a million empty arrays", Request: Request{Body: func() string { return review(arrays(from, 1_000_000)) }},
			Want: converted(upgrade(), 1, func() string { return success(arrays(to, 1_000_000)) }),
		},
		{
			Name: "a million names in a field", Request: Request{Body: func() string { return review(deepNames(from)) }},
			Want: converted(upgrade(), 1, func() string { return success(deepNames(to)) }),
		},
		{
			Name: "a million names in an object", Request: Request{Body: func() string { return review(cronTab(from, names(1_000_000))) }},
			Want: failed(unknown(), "objects[0]: too many members in one object: byte "),
		},
		{
			Name: "a million names in the envelope", Want: refused("too many members in one object"),
			Request: Request{Body: func() string { return enveloped(rightVersion, rightKind, rightRequest()+","+names(1_000_000)) }},
		},
		{
			Name: "more objects than a review may have", Request: Request{Body: func() string { return review(list("{}", 1<<17+1)) }},
			Want: failed(none(), "more than 131072 objects, send fewer at once: .request.objects").objects(1<<17, 1<<17),
		},
		{
			Name: "a hundred thousand objects that fail", Request: Request{Body: func() string { return review(list("{}", 100_000)) }},
			Want: failed(unknown(), "100000 of 100000 objects cannot be converted: objects[0]: object without a version").
				objects(100_000, 100_000).counter(unknown().objects("failed"), 100_000),
		},
	}
}

func base36(i int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	text := ""
	for ; i > 0 || text == ""; i /= 36 {
		text += string(digits[i%36])
	}
	return text
}
