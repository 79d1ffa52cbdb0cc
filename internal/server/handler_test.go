package server_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/internal/server"
)

// Memory of any size is no number that overflows.
func TestHandlerWithoutABound(t *testing.T) {
	t.Parallel()
	limits := server.DefaultLimits()
	limits.InFlightBytes = math.MaxInt64 / 2
	h := server.NewHandler(http.HandlerFunc(echo), limits, server.Hooks{})
	if code, body := servePost(t, h, "/"); code != http.StatusOK {
		t.Errorf("code %d: %s", code, body)
	}
}

// In a server that is not webhookd's, reviews share what there is by source, too. The last bytes of
// a body need not come with its end.
func TestHandlerSharesBySource(t *testing.T) {
	t.Parallel()
	const small = 8 << 10
	held, free := make(chan struct{}), make(chan struct{})
	limits := server.DefaultLimits()
	tightLimits(&limits)
	h := server.NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RemoteAddr == "10.0.0.1:2" {
			t.Error("what is refused is served")
		}
		body := make([]byte, small)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			answerReserve(w, err)
			return
		}
		if body[0] == 'h' {
			if err := server.Reserve(r.Context(), 800<<10); err != nil {
				t.Errorf("more than a body may have that arrives: %v", err)
			}
			close(held)
			<-free
		}
		w.Header().Set("Content-Length", strconv.Itoa(small))
		_, _ = w.Write(body)
	}), limits, server.Hooks{})
	post := func(from, body string) int {
		reader := strings.NewReader(body + strings.Repeat(" ", small-len(body)))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", reader)
		r.RemoteAddr = from
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests && reader.Len() < small {
			t.Error("the rest of its body is read, without a limit of time")
		}
		return w.Code
	}
	var wg sync.WaitGroup
	wg.Go(func() { post("10.0.0.1:1", "hold") })
	<-held
	if got := h.Stats(); got.Requests != 1 {
		t.Errorf("%+v, want one request", got)
	}
	for from, want := range map[string]int{"10.0.0.1:2": http.StatusTooManyRequests, "10.0.0.2:1": http.StatusOK} {
		if code := post(from, "{}"); code != want {
			t.Errorf("%s: code %d, want %d", from, code, want)
		}
	}
	close(free)
	wg.Wait()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	if allow := w.Header().Get("Allow"); w.Code != http.StatusMethodNotAllowed || allow != http.MethodPost {
		t.Errorf("GET: code %d, allowed is %s", w.Code, allow)
	}
}
