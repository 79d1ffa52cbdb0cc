package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/apistatus"
)

const (
	jsonType = "application/json"
	// refusedBodyTime is how long the rest of a body is read that nobody wants.
	refusedBodyTime = 3 * time.Second
)

// serveReview hands a request to the webhook handler once it is known to be worth its memory.
func (s *Server) serveReview(w http.ResponseWriter, r *http.Request) {
	deadline := time.Now().Add(requestTime(r.URL.RawQuery, s.opts.Limits.Timeout))
	if !s.acceptable(w, r) {
		return
	}
	size := r.ContentLength
	if size < 0 {
		size = min(firstChunk, s.maxBody)
	}
	ctx := &deadlineContext{parent: r.Context(), deadline: deadline}
	defer ctx.stop()
	share, err := s.gate.acquire(ctx, size) //nolint:contextcheck // the parent of ctx is the request's
	if err != nil {
		s.shed(w, r, err)
		return
	}
	ctx.admission = admission{gate: s.gate, hooks: &s.opts.Hooks, share: share}
	defer ctx.release()
	r = r.WithContext(ctx) //nolint:contextcheck // the parent of ctx is the request's
	// The time in which the body waited for its share is not its client's.
	paced := s.opts.Limits.pace(r, time.Now(), deadline)
	if r.ContentLength >= 0 {
		// net/http reads no more than Content-Length, so the body is limited as it is.
		r.Body = &watchedBody{ReadCloser: r.Body, hooks: &s.opts.Hooks, pace: paced}
		s.serveCorked(w, r)
		return
	}
	r.Body = &chunkedBody{
		ctx: ctx, admission: &ctx.admission, limit: s.maxBody, room: size,
		body: &watchedBody{ReadCloser: http.MaxBytesReader(bare(w), r.Body, s.maxBody), hooks: &s.opts.Hooks, pace: paced},
	}
	s.opts.Webhook.ServeHTTP(w, r)
}

// acceptable refuses what can be refused without reading the body.
func (s *Server) acceptable(w http.ResponseWriter, r *http.Request) bool {
	for _, encoding := range r.Header["Content-Encoding"] {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			w.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
			s.reject(w, http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
				"compressed requests are not supported: send the body without Content-Encoding")
			return false
		}
	}
	if !isJSON(r.Header["Content-Type"]) {
		w.Header().Set("Accept", jsonType)
		s.reject(w, http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"unsupported media type: send a ConversionReview as JSON with Content-Type: "+jsonType)
		return false
	}
	if r.ContentLength > s.maxBody {
		s.reject(w, http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, s.tooLarge(r.ContentLength))
		return false
	}
	return true
}

func isJSON(contentType []string) bool {
	if len(contentType) != 1 {
		return false
	}
	if contentType[0] == jsonType { // what kube-apiserver sends
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType[0])
	return mediaType == jsonType && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// tooLarge says which of the two limits a body of n bytes exceeds.
func (s *Server) tooLarge(n int64) string {
	if n > s.opts.Limits.MaxBodyBytes {
		return fmt.Sprintf("request body of %d bytes is larger than webhookd accepts: max-body is %d bytes",
			n, s.opts.Limits.MaxBodyBytes)
	}
	return fmt.Sprintf("request body of %d bytes is larger than webhookd's in-flight byte budget leaves for one request, "+
		"which is %d bytes: give it more memory or raise max-in-flight-bytes", n, s.gate.largest())
}

// shed answers a request that the gate did not admit.
func (s *Server) shed(w http.ResponseWriter, r *http.Request, err error) {
	if over, ok := errors.AsType[overloadError](err); ok {
		s.opts.Hooks.shed(string(over))
	}
	// A client that is still sending when its connection ends may see no answer, and kube-apiserver asks again after a 429 but
	// not after a reset. So the answer goes out first, and then the body has some time to come to its end.
	control := http.NewResponseController(w)
	heard := r.Header["Expect"] == nil && control.EnableFullDuplex() == nil
	apistatus.WriteOverloaded(w, overloadError("").Error())
	if heard && control.Flush() == nil && control.SetReadDeadline(time.Now().Add(refusedBodyTime)) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, s.maxBody)
	}
}
