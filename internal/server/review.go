package server

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
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
	if err := c.share.Admit(int64(min(uint64(r.ContentLength), firstBytes))); err != nil { //nolint:gosec // -1: unknown
		c.answerEarly()
		apistatus.WriteOverloaded(w, c.shed(err).Error())
		return
	}
	c.serve()
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
	mediaType, _, _ := mime.ParseMediaType(contentType[0]) // empty, unless only a parameter is wrong
	return mediaType == jsonType
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

// answerEarly allows an answer before the body has arrived. A client that is still sending when its
// connection ends may see no answer, and kube-apiserver repeats a call after a 429 but not after a
// reset. So the rest of the body is read for some time.
func (c *call) answerEarly() {
	c.discard = true
	_ = http.NewResponseController(c.answer).EnableFullDuplex() // HTTP/2 has nothing else
}

// discardBody flushes the answer and then reads a refused body for some time, so the client can
// finish sending.
func (c *call) discardBody() {
	control := http.NewResponseController(c.answer)
	_ = control.Flush() // a client that has gone needs no answer
	if control.SetReadDeadline(time.Now().Add(refusedBodyTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.request.Body, c.server.maxBody)
	}
}
