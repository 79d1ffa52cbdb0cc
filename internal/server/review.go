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

	"github.com/crdconvert/webhookd/internal/review/apistatus"
	"github.com/crdconvert/webhookd/internal/server/gate"
)

const (
	jsonType = "application/json"
	// firstBytes is what is reserved before any of the body has arrived.
	firstBytes = 4 << 10
	// refusedBodyTime is how long the rest of a refused body is read.
	refusedBodyTime = 3 * time.Second
)

// serveReview admits a request and passes it to the webhook handler.
func (s *Server) serveReview(w http.ResponseWriter, r *http.Request) {
	if !s.acceptable(w, r) {
		return
	}
	c := s.newCall(answerOf(w), r)
	defer c.end()
	if err := c.share.Admit(s.firstShare(r)); err != nil {
		_ = c.shed(err)
		s.shed(w, r)
		return
	}
	c.serve()
}

// firstShare returns the share of a request before any of its body has arrived.
func (s *Server) firstShare(r *http.Request) int64 {
	if r.ContentLength < 0 {
		return min(firstBytes, s.maxBody)
	}
	return min(r.ContentLength, firstBytes)
}

// acceptable refuses requests that can be refused without reading the body.
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
	if contentType[0] == jsonType { // kube-apiserver sends this
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType[0])
	return mediaType == jsonType && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// tooLarge says which limit a body of n bytes exceeds.
func (s *Server) tooLarge(n int64) string {
	if n > s.opts.Limits.MaxBodyBytes {
		return fmt.Sprintf("request body of %d bytes is larger than webhookd accepts: max-body is %d bytes",
			n, s.opts.Limits.MaxBodyBytes)
	}
	return fmt.Sprintf("request body of %d bytes is larger than webhookd's in-flight byte budget leaves for one request, "+
		"which is %d bytes: give it more memory or raise max-in-flight-bytes", n, s.ledger.Largest())
}

// shed answers a request that was not admitted.
func (s *Server) shed(w http.ResponseWriter, r *http.Request) {
	early := answerEarly(w, r)
	apistatus.WriteOverloaded(w, gate.OverloadError(gate.ShedBytes).Error())
	if early {
		s.discardBody(w, r.Body)
	}
}

// answerEarly allows an answer before the body has arrived, and reports whether that is possible. A
// client that is still sending when its connection ends may see no answer, and kube-apiserver
// repeats a call after a 429 but not after a reset.
func answerEarly(w http.ResponseWriter, r *http.Request) bool {
	return r.Header["Expect"] == nil && http.NewResponseController(w).EnableFullDuplex() == nil
}

// discardBody flushes the answer and then reads a refused body for some time, so the client can
// finish sending.
func (s *Server) discardBody(w http.ResponseWriter, body io.Reader) {
	control := http.NewResponseController(w)
	if control.Flush() == nil && control.SetReadDeadline(time.Now().Add(refusedBodyTime)) == nil {
		_, _ = io.CopyN(io.Discard, body, s.maxBody)
	}
}
