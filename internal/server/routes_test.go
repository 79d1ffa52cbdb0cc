package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
)

// TestRequests is the table of HTTP answers to hand-written requests. test/hostile has paths,
// methods and what net/http refuses itself.
func TestRequests(t *testing.T) {
	t.Parallel()
	const head = "POST /crdconvert HTTP/1.1\nHost: x\n"
	tests := map[string]struct {
		limit   int64  // max-body; 0: 64
		request string // LF for CR LF
		code    int
		body    string // of a review
		message string // part of the Status
		header  map[string]string
		closed  bool // the connection ends
	}{
		"good":                          {request: head + "Content-Type: application/json\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"media type with a parameter":   {request: head + "Content-Type: application/json; charset=utf-8\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"media type in capitals":        {request: head + "Content-Type: Application/JSON\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"media type, broken parameter":  {request: head + "Content-Type: application/json; charset\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"header names in small letters": {request: head + "content-type: application/json\ncontent-length: 2\n\n{}", code: 200, body: "{}"},
		"empty body":                    {request: head + "Content-Type: application/json\nContent-Length: 0\n\n", code: 200},
		"empty encoding":                {request: head + "Content-Type: application/json\nContent-Encoding:\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"identity encoding":             {request: head + "Content-Type: application/json\nContent-Encoding: Identity\nContent-Length: 2\n\n{}", code: 200, body: "{}"},

		"no media type":           {request: head + "Content-Length: 2\n\n{}", code: 415, message: "Content-Type: application/json", header: map[string]string{"Accept": "application/json"}},
		"two media types":         {request: head + "Content-Type: application/json\nContent-Type: text/plain\nContent-Length: 2\n\n{}", code: 415, message: "media type"},
		"wrong media type":        {request: head + "Content-Type: application/yaml\nContent-Length: 2\n\n{}", code: 415, message: "media type"},
		"longer type":             {request: head + "Content-Type: application/json-patch+json\nContent-Length: 2\n\n{}", code: 415, message: "media type"},
		"form":                    {request: head + "Content-Type: application/x-www-form-urlencoded\nContent-Length: 2\n\n{}", code: 415, message: "media type"},
		"gzip":                    {request: head + "Content-Type: application/json\nContent-Encoding: gzip\nContent-Length: 2\n\n{}", code: 415, message: "Content-Encoding", header: map[string]string{"Accept-Encoding": "identity"}},
		"zstd":                    {request: head + "Content-Type: application/json\nContent-Encoding: zstd\nContent-Length: 2\n\n{}", code: 415, message: "Content-Encoding"},
		"br":                      {request: head + "Content-Type: application/json\nContent-Encoding: br\nContent-Length: 2\n\n{}", code: 415, message: "Content-Encoding"},
		"deflate":                 {request: head + "Content-Type: application/json\nContent-Encoding: deflate\nContent-Length: 2\n\n{}", code: 415, message: "Content-Encoding"},
		"encoding in a list":      {request: head + "Content-Type: application/json\nContent-Encoding: identity, gzip\nContent-Length: 2\n\n{}", code: 415, message: "Content-Encoding"},
		"encoding in two headers": {request: head + "Content-Type: application/json\nContent-Encoding: identity\nContent-Encoding: gzip\nContent-Length: 2\n\n{}", code: 415, message: "Content-Encoding"},

		"GET":                      {request: "GET /crdconvert HTTP/1.1\nHost: x\n\n", code: 405, message: "POST", header: map[string]string{"Allow": "POST"}},
		"unknown method elsewhere": {request: "BREW /tea HTTP/1.1\nHost: x\n\n", code: 404, message: "clientConfig"},
		"path in escapes":          {request: "POST /%63rdconvert HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 2\n\n{}", code: 404, message: "clientConfig"},
		"POST to readiness":        {request: "POST /readyz HTTP/1.1\nHost: x\nContent-Length: 0\n\n", code: 405, message: "GET", header: map[string]string{"Allow": "GET, HEAD"}},
		"readiness":                {request: "GET /readyz HTTP/1.1\nHost: x\n\n", code: 200, body: "ok\n"},

		"one byte below the limit": {limit: 3, request: head + "Content-Type: application/json\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"at the limit":             {limit: 2, request: head + "Content-Type: application/json\nContent-Length: 2\n\n{}", code: 200, body: "{}"},
		"above the limit":          {limit: 1, request: head + "Content-Type: application/json\nContent-Length: 2\n\n{}", code: 413, message: "max-body is 1 bytes"},
		"announced, never sent":    {limit: 1, request: head + "Content-Type: application/json\nContent-Length: 9000000000000000000\n\n", code: 413, message: "max-body", closed: true},
		"above what fits in flight": {limit: 900_000_000, request: head + "Content-Type: application/json\nContent-Length: 900000000\n\n", code: 413, closed: true, message: "request body of 900000000 bytes is larger than webhookd's in-flight byte budget leaves " +
			"for one request, which is 786432 bytes: give it more memory or raise max-in-flight-bytes"},
		"sent less than announced": {request: head + "Content-Type: application/json\nContent-Length: 2\nConnection: close\n\n{", code: 400, message: "cut short", closed: true},
		"chunked at the limit":     {limit: 2, request: head + "Content-Type: application/json\nTransfer-Encoding: chunked\n\n1\n{\n1\n}\n0\n\n", code: 200, body: "{}"},
		"chunked above the limit":  {limit: 1, request: head + "Content-Type: application/json\nTransfer-Encoding: chunked\n\n1\n{\n1\n}\n0\n\n", code: 413, message: "limit 1", closed: true},
		"chunked, broken":          {request: head + "Content-Type: application/json\nTransfer-Encoding: chunked\n\nx\n{\n0\n\n", code: 400, message: "cut short", closed: true},
		"sent more than announced": {request: head + "Content-Type: application/json\nContent-Length: 2\nConnection: close\n\n{}{}", code: 200, body: "{}", closed: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(o *server.Options) {
				o.Limits.MaxBodyBytes = max(tt.limit, 1)
				if tt.limit == 0 {
					o.Limits.MaxBodyBytes = 64
				}
				o.Limits.InFlightBytes = 1 << 20
			})
			c := dialRaw(t, s.Addr())
			c.send(tt.request)
			if strings.HasPrefix(name, "sent less") {
				if err := c.CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			got := c.receive(strings.Fields(tt.request)[0])
			if got.code != tt.code {
				t.Fatalf("code %d, want %d: %s", got.code, tt.code, got.body)
			}
			if tt.code == http.StatusOK && got.body != tt.body {
				t.Errorf("body %q, want %q", got.body, tt.body)
			} else if tt.code != http.StatusOK && !strings.Contains(got.message(t), tt.message) {
				t.Errorf("answer %q does not say %q", got.body, tt.message)
			}
			for name, want := range tt.header {
				if v := got.header.Get(name); v != want {
					t.Errorf("header %s: %q, want %q", name, v, want)
				}
			}
			if tt.closed && !c.closed() {
				t.Error("the connection stays open")
			} else if !tt.closed && got.close {
				t.Error("the connection is closed")
			}
		})
	}
}

// TestExpectContinue checks that a client that asks first is refused before it sends its body.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { o.Limits.MaxBodyBytes = 100 << 10 })
	const head = "POST /crdconvert HTTP/1.1\nHost: x\nExpect: 100-continue\n"
	for _, size := range []int{2, 100 << 10} { // it sends nothing before 100 Continue, so that must not wait for the answer
		t.Run(fmt.Sprintf("welcome, %d bytes", size), func(t *testing.T) {
			t.Parallel()
			c, body := dialRaw(t, s.Addr()), strings.Repeat("x", size)
			c.send(fmt.Sprintf("%sContent-Type: application/json\nContent-Length: %d\n\n", head, size))
			if got := c.receive(http.MethodPost); got.code != http.StatusContinue {
				t.Fatalf("code %d, want 100", got.code)
			}
			c.send(body)
			if got := c.receive(http.MethodPost); got.code != 200 || got.body != body {
				t.Errorf("code %d and %d bytes, want 200 and the body", got.code, len(got.body))
			}
		})
	}
	for name, tt := range map[string]struct {
		header string
		code   int
	}{
		"too large":        {"Content-Type: application/json\nContent-Length: 102401\n", 413},
		"compressed":       {"Content-Type: application/json\nContent-Encoding: gzip\nContent-Length: 2\n", 415},
		"wrong media type": {"Content-Type: text/plain\nContent-Length: 2\n", 415},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialRaw(t, s.Addr())
			c.send(head + tt.header + "\n")
			if got := c.receive(http.MethodPost); got.code != tt.code {
				t.Errorf("code %d, want %d", got.code, tt.code)
			}
		})
	}
}

// TestAdminRoutes checks the routes of the admin listener, and that profiles are only for loopback
// clients.
func TestAdminRoutes(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics\n")) })
	plain := func(*server.Options) {}
	full := func(o *server.Options) { o.Metrics, o.Pprof = metrics, true }
	tests := map[string]struct {
		change func(*server.Options)
		method string
		path   string
		from   string
		code   int
		body   string // part
	}{
		"alive":                        {plain, "GET", "/livez", "10.0.0.1:1", 200, "ok\n"},
		"alive, HEAD":                  {plain, "HEAD", "/livez", "10.0.0.1:1", 200, ""},
		"ready":                        {plain, "GET", "/readyz", "10.0.0.1:1", 200, "ok\n"},
		"metrics":                      {full, "GET", "/metrics", "10.0.0.1:1", 200, "metrics\n"},
		"no metrics given":             {plain, "GET", "/metrics", "10.0.0.1:1", 404, `"Status"`},
		"POST to metrics":              {full, "POST", "/metrics", "10.0.0.1:1", 405, `"Status"`},
		"no reviews here":              {full, "POST", "/crdconvert", "10.0.0.1:1", 404, "the admin listener"},
		"profiles off":                 {plain, "GET", "/debug/pprof/", "127.0.0.1:1", 404, `"Status"`},
		"profiles off, heap":           {plain, "GET", "/debug/pprof/heap", "127.0.0.1:1", 404, `"Status"`},
		"profiles, index":              {full, "GET", "/debug/pprof/", "127.0.0.1:1", 200, "goroutine"},
		"profiles, one":                {full, "GET", "/debug/pprof/goroutine?debug=1", "127.0.0.1:1", 200, "goroutine profile"},
		"profiles, command line":       {full, "GET", "/debug/pprof/cmdline", "127.0.0.1:1", 200, ""},
		"profiles, symbol":             {full, "GET", "/debug/pprof/symbol", "127.0.0.1:1", 200, "num_symbols"},
		"profiles, processor":          {full, "GET", "/debug/pprof/profile?seconds=1", "127.0.0.1:1", 200, "\x1f\x8b"},
		"profiles, trace":              {full, "GET", "/debug/pprof/trace?seconds=0.01", "127.0.0.1:1", 200, "go 1."},
		"profiles, IPv6":               {full, "GET", "/debug/pprof/goroutine?debug=1", "[::1]:1", 200, "goroutine profile"},
		"profiles, IPv4 in IPv6":       {full, "GET", "/debug/pprof/goroutine?debug=1", "[::ffff:127.0.0.1]:1", 200, "goroutine profile"},
		"profiles, other host":         {full, "GET", "/debug/pprof/goroutine?debug=1", "10.0.0.1:1", 404, `"Status"`},
		"profiles, index, other host":  {full, "GET", "/debug/pprof/", "10.0.0.1:1", 404, `"Status"`},
		"profiles, symbol, other host": {full, "POST", "/debug/pprof/symbol", "[2001:db8::1]:1", 404, `"Status"`},
		"profiles, no address":         {full, "GET", "/debug/pprof/cmdline", "@", 404, `"Status"`},
		"variables":                    {full, "GET", "/debug/vars", "127.0.0.1:1", 404, `"Status"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server.New(options(t, tt.change))
			code, body := serve(t, server.AdminHandler(s), tt.method, tt.path, tt.from)
			if code != tt.code || !strings.Contains(body, tt.body) {
				t.Errorf("answer %d %.80q, want %d with %q", code, body, tt.code, tt.body)
			}
		})
	}
}

// TestOverloadReachesSlowClient checks that a client that is slow to send reads of the overload
// instead of a reset, and can use the connection again.
func TestOverloadReachesSlowClient(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	head := func(size int) string { return strings.Replace(reviewHead, "4\n", strconv.Itoa(size)+"\n\n", 1) }
	for _, held := range []int{size, size * 3 / 2} { // there is room for a part of another body, and for none
		synctest.Test(t, func(t *testing.T) {
			s := startPiped(t, func(o *server.Options) { o.Limits.InFlightBytes, o.Limits.QueueWait = 2*size+100<<10, 0 })
			s.raw().send(head(held) + strings.Repeat(" ", held-1))
			c, began := s.raw(), time.Now()
			c.send(head(size))
			sent := c.trickle(strings.Repeat(" ", size), size/16, 100*time.Millisecond)
			if got := c.receive(http.MethodPost); got.code != http.StatusTooManyRequests || time.Since(began) > time.Second {
				t.Errorf("code %d after %s, want 429 before all is sent", got.code, time.Since(began))
			}
			sent()
			c.send(reviewHead + "\n{  }")
			if got := c.receive(http.MethodPost); got.code != http.StatusOK {
				t.Errorf("code %d for the next request, want 200", got.code)
			}
		})
	}
}

// TestEarlyRefusalReachesClient checks that a refusal is not lost while the client still sends the
// body: Go's client, and so kube-apiserver, must see the Status and not a broken pipe.
func TestEarlyRefusalReachesClient(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *server.Options) { o.Limits.MaxBodyBytes = 1 << 20 })
	client := newClient(t)
	body := strings.Repeat(" ", 8<<20)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if got := post(t, client, s.url(), strings.NewReader(body)); got.code != http.StatusRequestEntityTooLarge {
					t.Errorf("code %d, want 413", got.code)
				}
			}
		})
	}
	wg.Wait()
}
