package review_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review"
)

// A reply is an answer of the handler.
type reply struct {
	code   int
	header http.Header
	body   []byte
}

// post sends a body to the handler, with its length if the reader knows it.
func post(t *testing.T, h http.Handler, body io.Reader) reply {
	t.Helper()
	return send(h, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/crdconvert?timeout=30s", body))
}

func send(h http.Handler, req *http.Request) reply {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return reply{rec.Code, rec.Header(), rec.Body.Bytes()}
}

// An answer has HTTP 200 and its length, whether objects fail or not.
func TestHandlerAnswers(t *testing.T) {
	t.Parallel()
	large := named(strings.Repeat("x", 200<<10)) // more than one write
	for name, body := range map[string][]byte{
		"success": request(named("a")), "none": request(), "failed": request(named("bad")), "no version": withRequest(uidPart),
		"large": request(large, large, large), "large, failed": request(large, named("bad")),
		"v1beta1": []byte(strings.Replace(string(request(named("a"))), reviewV1, reviewV1beta1, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := newReviewer(t, failNamed, review.Hooks{}).Review(t.Context(), nil, body)
			if err != nil {
				t.Fatal(err)
			}
			for sender, from := range map[string]io.Reader{
				"with its length": strings.NewReader(string(body)), "chunked": io.MultiReader(strings.NewReader(string(body))),
				"byte by byte": iotest.OneByteReader(strings.NewReader(string(body))), "with the end at once": iotest.DataErrReader(strings.NewReader(string(body))),
			} {
				h := review.NewHandler(newReviewer(t, failNamed, review.Hooks{})) // with empty buffers
				got := post(t, h, from)
				if !bytes.Equal(got.body, want) {
					t.Errorf("%s: got  %.300s\nwant %.300s", sender, got.body, want)
				}
				wantHeader := http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(want))}}
				if diff := cmp.Diff(wantHeader, got.header); diff != "" || got.code != http.StatusOK {
					t.Errorf("%s: %d, header (-want +got):\n%s", sender, got.code, diff)
				}
			}
		})
	}
}

type overloadError struct{}

func (overloadError) Error() string   { return "no room" }
func (overloadError) StatusCode() int { return http.StatusTooManyRequests }

// A body that gets no review gets a metav1.Status, whose message the API server shows.
func TestHandlerRefuses(t *testing.T) {
	t.Parallel()
	good := string(request(named("a")))
	failing := func(err error) io.Reader { return io.MultiReader(strings.NewReader(good[:100]), iotest.ErrReader(err)) }
	tests := map[string]struct {
		body   io.Reader
		length int64
		code   int
		reason metav1.StatusReason
		want   string
	}{
		"empty":        {strings.NewReader(""), 0, 400, metav1.StatusReasonBadRequest, "body cannot be read, send a ConversionReview as JSON: unexpected end of the text: byte 0"},
		"no review":    {strings.NewReader("{}"), 2, 400, metav1.StatusReasonBadRequest, "not a ConversionReview, send one: .kind"},
		"no JSON":      {strings.NewReader("{<b>"), 4, 400, metav1.StatusReasonBadRequest, "body cannot be read, send a ConversionReview as JSON: unexpected character: byte 1"},
		"ends early":   {strings.NewReader(good[:100]), 200, 400, metav1.StatusReasonBadRequest, "body ended early, send as much as Content-Length says"},
		"never starts": {strings.NewReader(""), 200, 400, metav1.StatusReasonBadRequest, "body ended early, send as much as Content-Length says"},
		"reset":        {failing(errors.New("connection reset by 10.0.0.1")), -1, 400, metav1.StatusReasonBadRequest, "body ended early, send as much as Content-Length says"},
		"too slow":     {failing(os.ErrDeadlineExceeded), 200, 408, metav1.StatusReasonTimeout, "body did not arrive in time, send it faster or fewer objects at once"},
		"too large": {
			http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(good)), 50), -1, 413, metav1.StatusReasonRequestEntityTooLarge,
			"body is larger than 50 bytes, raise max-body or send fewer objects at once",
		},
		"too large for its length": {
			http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(good)), 50), int64(len(good)), 413, metav1.StatusReasonRequestEntityTooLarge,
			"body is larger than 50 bytes, raise max-body or send fewer objects at once",
		},
		"other code": {failing(shortage(http.StatusBadGateway)), -1, 400, metav1.StatusReasonBadRequest, "body ended early, send as much as Content-Length says"},
		"overload after its last byte": {
			iotest.DataErrReader(io.MultiReader(strings.NewReader(good), iotest.ErrReader(overloadError{}))), int64(len(good)), 429, metav1.StatusReasonTooManyRequests, "no room",
		},
		"overload": {failing(overloadError{}), -1, 429, metav1.StatusReasonTooManyRequests, "no room"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := review.NewHandler(newReviewer(t, nothing, review.Hooks{}))
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/crdconvert", tt.body)
			req.ContentLength = tt.length
			answer := send(h, req)
			var got metav1.Status
			if err := json.Unmarshal(answer.body, &got); err != nil {
				t.Fatalf("%v: %s", err, answer.body)
			}
			want := metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
				Code: int32(tt.code), Reason: tt.reason, Message: tt.want,
			}
			retry := tt.code == http.StatusTooManyRequests
			if retry {
				want.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
			}
			if diff := cmp.Diff(want, got); diff != "" || answer.code != tt.code {
				t.Errorf("HTTP %d, status (-want +got):\n%s", answer.code, diff)
			}
			length := strconv.Itoa(len(answer.body))
			if answer.header.Get("Content-Type") != "application/json" || answer.header.Get("Content-Length") != length ||
				(answer.header.Get("Retry-After") == "1") != retry {
				t.Errorf("header %v", answer.header)
			}
			// The handler still works.
			if again := post(t, h, strings.NewReader(good)); again.code != http.StatusOK {
				t.Errorf("%d afterwards", again.code)
			}
		})
	}
}

// A roomy body is asked for room before it is read into a larger buffer.
type roomy struct {
	io.Reader

	asked []int64
	most  int64
}

func (r *roomy) Room(n int64) error {
	if r.asked = append(r.asked, n); n > r.most {
		return overloadError{}
	}
	return nil
}

func (*roomy) Close() error { return nil }

// The buffer for a body grows with what arrives, and once much has, to its length.
func TestHandlerAsksForRoom(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		size  int
		known bool
		most  int64
		want  []int64
		code  int
	}{
		"length is known":   {20 << 20, true, 20 << 20, []int64{32 << 10, 256 << 10, 2 << 20, 20 << 20}, 200},
		"length is unknown": {6 << 20, false, 16 << 20, []int64{32 << 10, 256 << 10, 2 << 20, 16 << 20}, 200},
		"no room":           {6 << 20, true, 1 << 20, []int64{32 << 10, 256 << 10, 2 << 20}, 429},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := request(named(strings.Repeat("x", tt.size-len(request(named(""))))))
			body := &roomy{Reader: iotest.DataErrReader(bytes.NewReader(text)), most: tt.most}
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/crdconvert", body)
			req.Body, req.ContentLength = body, -1
			if tt.known { // and the client sends more
				body.Reader, req.ContentLength = io.MultiReader(body.Reader, strings.NewReader("more")), int64(tt.size)
			}
			if got := send(review.NewHandler(newReviewer(t, nothing, review.Hooks{})), req); got.code != tt.code {
				t.Errorf("code %d, want %d: %.200s", got.code, tt.code, got.body)
			}
			if diff := cmp.Diff(tt.want, body.asked); diff != "" {
				t.Errorf("room (-want +got):\n%s", diff)
			}
		})
	}
}

// What the request needs while its answer is written is settled: a large answer goes out in pieces
// and keeps its document, a small one is made whole.
func TestHandlerSettles(t *testing.T) {
	t.Parallel()
	var reserved int64 // at last
	answer := func(size int) (settled []int64, body []byte) {
		body = request(widget(`"metadata":{}`, `"spec":"`+strings.Repeat("x", size)+`"`))
		h := review.NewHandler(newReviewer(t, nothing, review.Hooks{
			Settle:  func(_ context.Context, n int64) { settled = append(settled, n) },
			Reserve: func(_ context.Context, n int64) error { reserved = n; return nil },
		}))
		got := post(t, h, bytes.NewReader(body))
		return append(settled, int64(len(got.body))), body
	}
	if got, _ := answer(1); len(got) != 2 || got[0] != 4<<10 {
		t.Errorf("a small answer: %d, want the size of its buffer", got)
	}
	const whole = 1 << 20
	small, _ := answer(0)
	pad := whole - int(small[1])
	if got, _ := answer(pad); len(got) != 2 || got[0] != whole || got[1] != whole || reserved != whole {
		t.Errorf("the largest whole answer: %d, %d reserved", got, reserved)
	}
	if got, body := answer(pad + 1); len(got) != 2 || got[0] < int64(len(body))+64<<10 || reserved != 0 {
		t.Errorf("an answer in pieces: %d, %d reserved, want at least the body of %d bytes and a buffer", got, reserved, len(body))
	}
}

// Before a very large body, the memory of the one before is collected.
func TestHandlerCollectsBeforeAHugeBody(t *testing.T) {
	h := review.NewHandler(newReviewer(t, nothing, review.Hooks{}))
	forced := func(size int) uint32 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/crdconvert", strings.NewReader(strings.Repeat(" ", size)))
		if got := send(h, req); got.code != http.StatusBadRequest {
			t.Errorf("code %d", got.code)
		}
		runtime.ReadMemStats(&after)
		return after.NumForcedGC - before.NumForcedGC
	}
	const huge = 16 << 20
	if small, large := forced(huge-1), forced(huge); small != 0 || large != 1 {
		t.Errorf("%d collections are begun for a body of less, %d for a huge one", small, large)
	}
}

// goneWriter is the ResponseWriter of a client that has gone.
type goneWriter struct{ header http.Header }

func (w goneWriter) Header() http.Header       { return w.header }
func (goneWriter) WriteHeader(int)             {}
func (goneWriter) Write(p []byte) (int, error) { return len(p) / 2, io.ErrClosedPipe }

// A client that goes while its answer is written leaves nothing behind: net/http closes the
// connection.
func TestHandlerClientGone(t *testing.T) {
	t.Parallel()
	h := review.NewHandler(newReviewer(t, nothing, review.Hooks{}))
	for range 3 {
		func() {
			defer func() {
				if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
					t.Errorf("panic %v, want http.ErrAbortHandler", v)
				}
			}()
			body := strings.NewReader(string(request(named(strings.Repeat("x", 200<<10)))))
			h.ServeHTTP(goneWriter{http.Header{}}, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body))
		}()
		if again := post(t, h, bytes.NewReader(request(named("a")))); len(again.body) == 0 || again.code != http.StatusOK {
			t.Errorf("%d afterwards", again.code)
		}
	}
}
