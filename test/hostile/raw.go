package hostile

import (
	"fmt"
	"net/http"
	"strings"
)

// A RawCase is bytes on a TLS connection to webhookd, and the answers that it gets.
type RawCase struct {
	Name string
	Send string
	// Want are the answers in their order. With the last one the connection ends, if that is
	// Closed; with Nothing it ends and there is no more.
	Want []Answer
}

// RawBody is the body of the requests that are answered with a review.
func RawBody() string { return review(object()) }

// RawCases returns the cases of the set A8, except SlowCases.
func RawCases() []RawCase {
	var cases []RawCase
	for _, list := range [][]RawCase{
		rawLengths(), rawCodings(), rawChunks(), rawHeaders(), rawLargeHeaders(), rawVersions(), rawMethods(), rawPaths(), rawExpectations(),
		rawPipelines(), rawTimeouts(),
	} {
		cases = append(cases, list...)
	}
	return cases
}

const (
	rawLine = "POST /crdconvert?timeout=30s HTTP/1.1\r\n"
	rawHost = "Host: localhost\r\n"
	rawType = "Content-Type: application/json\r\n"
	rawEnd  = "X-Secret: " + Canary + "\r\n\r\n"
)

func rawLength() string { return fmt.Sprintf("Content-Length: %d\r\n", len(RawBody())) }

// posted is a request with lines of a header and the body behind it.
func posted(header string) string { return rawLine + rawHost + rawType + header + rawEnd + RawBody() }

// chunked is a request whose body is written as the text says.
func chunked(body string) string {
	return rawLine + rawHost + rawType + "Transfer-Encoding: chunked\r\n" + rawEnd + body
}

// plain is what net/http says by itself, before there is a request to count or to log.
func plain(code int, text string) Answer {
	return Answer{Code: code, Result: Plain, Message: text, Closed: true}
}

func badRequest(detail string) []Answer {
	if detail != "" {
		detail = ": " + detail
	}
	return []Answer{plain(http.StatusBadRequest, "400 Bad Request"+detail)}
}

func ok() []Answer { return []Answer{done()} }

func rawLengths() []RawCase {
	n := len(RawBody())
	return []RawCase{
		{"the length, as it should be", posted(rawLength()), ok()},
		{"the length twice, the same", posted(rawLength() + rawLength()), ok()},
		{"the length twice, different", posted(rawLength() + "Content-Length: 1\r\n"), badRequest("")},
		{"the length as a list", posted(fmt.Sprintf("Content-Length: %d, %d\r\n", n, n)), badRequest("")},
		{"the length with a sign", posted(fmt.Sprintf("Content-Length: +%d\r\n", n)), badRequest("")},
		{"a negative length", posted("Content-Length: -1\r\n"), badRequest("")},
		{"the length in hexadecimal", posted(fmt.Sprintf("Content-Length: 0x%x\r\n", n)), badRequest("")},
		{"a length beyond int64", posted("Content-Length: 9223372036854775808\r\n"), badRequest("")},
		{
			"no length, and something behind the header", posted(""),
			append([]Answer{refused(notJSON + "unexpected end of the text: byte 0")}, badRequest("")...),
		},
	}
}

func rawCodings() []RawCase {
	inChunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(RawBody()), RawBody())
	with := func(header string) string { return rawLine + rawHost + rawType + header + rawEnd + inChunks }
	return []RawCase{
		{"a body in chunks", with("Transfer-Encoding: chunked\r\n"), ok()},
		{"chunks and a length", with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), ok()},
		{"a length and chunks in another case", with("transfer-encoding: CHUNKED\r\nContent-Length: 5\r\n"), ok()},
		{"a coding that is not known", with("Transfer-Encoding: gzip, chunked\r\n"), []Answer{plain(http.StatusNotImplemented, "Unsupported transfer encoding")}},
		{"a coding with a vertical tab", with("Transfer-Encoding: \vchunked\r\n"), badRequest("")},
		{"chunks twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), []Answer{plain(http.StatusNotImplemented, "")}},
		{"a space before the colon", with("Transfer-Encoding : chunked\r\n"), badRequest("")},
	}
}

func rawChunks() []RawCase {
	n, body := len(RawBody()), RawBody()
	cut := turnedAway(http.StatusBadRequest, "BadRequest", "body ended early, send as much as Content-Length says").closed()
	return []RawCase{
		{"a chunk of no size", chunked("\r\n" + body + "\r\n0\r\n\r\n"), []Answer{cut}},
		{"a chunk of a size that is no number", chunked("zz\r\n" + body + "\r\n0\r\n\r\n"), []Answer{cut}},
		{"a chunk of a size with a prefix", chunked(fmt.Sprintf("0x%x\r\n%s\r\n0\r\n\r\n", n, body)), []Answer{cut}},
		{"a chunk of a size beyond 64 bits", chunked("10000000000000001\r\n" + body + "\r\n0\r\n\r\n"), []Answer{cut}},
		{"a chunk that ends in a bare line feed", chunked(fmt.Sprintf("%x\n%s\r\n0\r\n\r\n", n, body)), []Answer{cut}},
		{"a chunk extension with a bare line feed", chunked(fmt.Sprintf("%x;a\nb\r\n%s\r\n0\r\n\r\n", n, body)), []Answer{cut}},
		{"a chunk longer than it says", chunked(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", n-1, body)), []Answer{cut}},
		{"a trailer with a length", chunked(fmt.Sprintf("%x\r\n%s\r\n0\r\nContent-Length: 5\r\n\r\n", n, body)), ok()},
	}
}

func rawHeaders() []RawCase {
	body := rawLength() + rawEnd + RawBody()
	return []RawCase{
		{"lines that end in line feeds alone", strings.ReplaceAll(rawLine+rawHost+rawType+rawLength()+rawEnd, "\r\n", "\n") + RawBody(), ok()},
		{"a header over two lines", rawLine + rawHost + rawType + "X-Folded: a\r\n b\r\n" + body, ok()},
		{"a header without a colon", rawLine + rawHost + rawType + "nonsense\r\n" + body, badRequest("")},
		{"a header without a name", rawLine + rawHost + rawType + ": a\r\n" + body, badRequest("")},
		{"a header with a NUL", rawLine + rawHost + rawType + "X-A: a\x00b\r\n" + body, badRequest("")},
		{"a header with a bare carriage return", rawLine + rawHost + rawType + "X-A: a\rContent-Length: 0\r\n" + body, badRequest("")},
		{"no host", rawLine + rawType + body, badRequest("missing required Host header")},
		{"two hosts", rawLine + rawHost + "Host: b\r\n" + rawType + body, badRequest("")},
		{"a host with a space", rawLine + "Host: a b\r\n" + rawType + body, badRequest("malformed Host header")},
		{
			"two media types", rawLine + rawHost + rawType + rawType + body,
			[]Answer{turnedAway(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "unsupported media type")},
		},
		{"Upgrade: h2c", rawLine + rawHost + rawType + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n" + body, ok()},
		{"Connection: close", rawLine + rawHost + rawType + "Connection: close\r\n" + body, []Answer{done().closed()}},
	}
}

func rawLargeHeaders() []RawCase {
	const limit, slack = 32 << 10, 4096 // net/http allows that much more
	tooLarge := []Answer{plain(http.StatusRequestHeaderFieldsTooLarge, "431 Request Header Fields Too Large")}
	body := rawLength() + rawEnd + RawBody()
	return []RawCase{
		{"a header of 24 KiB", rawLine + rawHost + rawType + "X-A: " + strings.Repeat("a", 24<<10) + "\r\n" + body, ok()},
		{"a header of more than 36 KiB", rawLine + rawHost + rawType + "X-A: " + strings.Repeat("a", limit+slack) + "\r\n" + body, tooLarge},
		{"ten thousand headers", rawLine + rawHost + rawType + strings.Repeat("X-A: a\r\n", 10_000) + body, tooLarge},
		{"a request line of more than 36 KiB", "POST /crdconvert?" + strings.Repeat("a", limit+slack) + " HTTP/1.1\r\n" + rawHost + rawType + body, tooLarge},
	}
}

func rawVersions() []RawCase {
	rest := rawHost + rawType + rawLength() + rawEnd + RawBody()
	return []RawCase{
		{"HTTP/0.9", "GET /crdconvert\r\n", badRequest("")},
		{"HTTP/1.0", "POST /crdconvert HTTP/1.0\r\n" + rest, []Answer{done().closed()}},
		{"HTTP/1.01", "POST /crdconvert HTTP/1.01\r\n" + rest, badRequest("")},
		{"HTTP/2.0 in a request line", "POST /crdconvert HTTP/2.0\r\n" + rest, []Answer{plain(http.StatusHTTPVersionNotSupported, "unsupported protocol version")}},
		{
			"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
			[]Answer{turnedAway(http.StatusNotFound, "NotFound", "webhookd serves nothing at this path").closed()},
		},
		{"another protocol", "SSH-2.0-x\r\n\r\n", badRequest("")},
	}
}

func rawMethods() []RawCase {
	with := func(method string) string { return method + " /crdconvert HTTP/1.1\r\n" + rawHost + rawEnd }
	refuse := []Answer{turnedAway(http.StatusMethodNotAllowed, "MethodNotAllowed", "method not allowed here: use POST")}
	return []RawCase{
		{"GET", with("GET"), refuse},
		{"PUT", with("PUT"), refuse},
		{"DELETE", with("DELETE"), refuse},
		{"TRACE", with("TRACE"), refuse},
		{"an unknown method", with("CRDCONVERT"), refuse},
		{"post in another case", with("post"), refuse},
		{"OPTIONS of everything", "OPTIONS * HTTP/1.1\r\n" + rawHost + rawEnd, []Answer{turnedAway(http.StatusNotFound, "NotFound", "webhookd serves nothing at this path")}},
		{
			"CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n" + rawEnd,
			[]Answer{turnedAway(http.StatusNotFound, "NotFound", "webhookd serves nothing at this path")},
		},
		{"a method that is no word", with("PO ST"), badRequest("")},
	}
}

func rawPaths() []RawCase {
	with := func(target string) string {
		return "POST " + target + " HTTP/1.1\r\n" + rawHost + rawType + rawLength() + rawEnd + RawBody()
	}
	lost := []Answer{turnedAway(http.StatusNotFound, "NotFound", "webhookd serves nothing at this path")}
	return []RawCase{
		{"a slash at the end", with("/crdconvert/"), ok()},
		{"a slash at the end before a query", with("/crdconvert/?timeout=30s"), ok()},
		{"an odd query", with("/crdconvert?a=b;c&timeout=%zz&="), ok()},
		{"a query of 18 KiB", with("/crdconvert?" + strings.Repeat("x&", 9<<10)), ok()},
		{"the root", with("/"), lost},
		{"a path of 20 KiB", with("/" + strings.Repeat("long/", 4<<10)), lost},
		{"more behind the path", with("/crdconvert/x"), lost},
		{"a longer name", with("/crdconvertx"), lost},
		{"two dots at the end", with("/crdconvert/.."), lost},
		{"another host as a path", with("//elsewhere.test/crdconvert"), lost},
		{"an escaped NUL", with("/crdconvert%00"), lost},
		{"a backslash at the end", with("/crdconvert\\"), lost},
		{"the path of the probes", with("/livez"), lost},
		{"the path in escapes", with("/%63rdconvert"), lost},
		{"two slashes at the start", with("//crdconvert"), lost},
		{"two slashes at the end", with("/crdconvert//"), lost},
		{"the path in another case", with("/CRDConvert"), lost},
		{"the path by way of another", with("/x/../crdconvert"), lost},
		{"a dot in the path", with("/./crdconvert"), lost},
		{"an escaped slash at the end", with("/crdconvert%2f"), lost},
		{"a parameter of the path", with("/crdconvert;x=1"), lost},
		{"the path of the metrics", with("/metrics"), lost},
		{"the path of the profiles", with("/debug/pprof/"), lost},
		{"an absolute target", with("https://evil.example.com/crdconvert"), ok()},
		{"a target without a slash", with("crdconvert"), badRequest("")},
		{"a target with a line break in escapes", with("/a%0d%0aX: b"), badRequest("")},
		{"a broken escape", with("/%zz"), badRequest("")},
	}
}

func rawExpectations() []RawCase {
	goOn := Answer{Code: http.StatusContinue, Result: Plain}
	return []RawCase{
		{"Expect: 100-continue", posted(rawLength() + "Expect: 100-continue\r\n"), []Answer{goOn, done()}},
		{"Expect: something else", posted(rawLength() + "Expect: miracles\r\n"), []Answer{plain(http.StatusExpectationFailed, "")}},
	}
}

func rawPipelines() []RawCase {
	one := posted(rawLength())
	return []RawCase{
		{"three requests at once", one + one + one, []Answer{done(), done(), done()}},
		{"a request and nonsense", one + "nonsense\r\n\r\n", append(ok(), badRequest("")...)},
		{
			"a request that is refused before one that is not",
			"POST /other HTTP/1.1\r\n" + rawHost + rawType + rawLength() + rawEnd + RawBody() + one,
			[]Answer{turnedAway(http.StatusNotFound, "NotFound", "webhookd serves nothing at this path"), done()},
		},
		{
			"a request within the body of one that is refused",
			"POST /other HTTP/1.1\r\n" + rawHost + rawType + fmt.Sprintf("Content-Length: %d\r\n", len(one)) + rawEnd + one,
			[]Answer{turnedAway(http.StatusNotFound, "NotFound", "webhookd serves nothing at this path")},
		},
	}
}

func rawTimeouts() []RawCase {
	with := func(query string) string {
		return "POST /crdconvert?" + query + " HTTP/1.1\r\n" + rawHost + rawType + rawLength() + rawEnd + RawBody()
	}
	return []RawCase{
		{"a timeout that is no duration", with("timeout=soon"), ok()},
		{"a negative timeout", with("timeout=-30s"), ok()},
		{"a timeout of nothing", with("timeout=0s"), ok()},
		{"a timeout of a century", with("timeout=876000h"), ok()},
		{"a timeout beyond int64", with("timeout=99999999999999999999s"), ok()},
		{"a timeout in broken escapes", with("timeout=%zz"), ok()},
		{"two timeouts", with("timeout=30s&timeout=1ns"), ok()},
	}
}

// SlowCases returns those of A8 whose requests never come to their end, so that their time does.
func SlowCases() []RawCase {
	late := turnedAway(http.StatusRequestTimeout, "Timeout", "body did not arrive in time, send it faster").closed()
	return []RawCase{
		{"a header without an end", posted(rawLength()) + rawLine + rawHost, []Answer{done(), {Result: Nothing, Closed: true}}},
		{"a request line without an end", posted(rawLength()) + "POST /crdc", append(ok(), badRequest("")...)},
		{"a body that does not come", rawLine + rawHost + rawType + rawLength() + rawEnd, []Answer{late}},
		{"a body that stops", rawLine + rawHost + rawType + rawLength() + rawEnd + RawBody()[:20], []Answer{late}},
		{"a chunk that does not come", chunked("10\r\n"), []Answer{late}},
	}
}
