package review

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/apistatus"
)

// NewHandler returns a handler that answers the ConversionReview in the body of a request with r. A
// body with a uid gets HTTP 200 and a review, even if its objects cannot be converted (invariant
// I8). Any other body gets an HTTP error with a metav1.Status, whose message the API server shows.
// The caller sets the size limit with http.MaxBytesReader and the deadline in the request's
// context.
func NewHandler(r *Reviewer) http.Handler {
	h := &handler{reviewer: r, contentType: []string{"application/json"}}
	h.writers.New = func() any { return bufio.NewWriterSize(nil, writeSize) }
	return h
}

// writeSize is the size of the buffer that joins the pieces of an answer: each smaller write would
// be a TLS record and a system call of its own.
const writeSize = 64 << 10

type handler struct {
	reviewer    *Reviewer
	contentType []string
	bodies      buffers
	writers     sync.Pool
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.ContentLength < 0 || req.ContentLength > plainObject {
		// A long review that the scheduler interrupts waits in the global run queue, which it looks
		// at only after 61 others. So large bodies queue there too: with 500 objects from 16
		// clients the p99 falls from 1 s to 0.3 s (make bench-serve, L500c16).
		runtime.Gosched()
	}
	body, err := h.read(req)
	if err != nil {
		refuse(w, err)
		return
	}
	c, err := h.reviewer.review(req.Context(), body)
	if !c.overdue { // else a converter still uses the body
		defer h.bodies.put(body)
		defer h.reviewer.end(c)
	}
	switch {
	case err != nil:
		refuse(w, err)
	case h.write(w, c) != nil:
		panic(http.ErrAbortHandler) // the client is gone
	}
}

const (
	// firstRead is the size of the first buffer for a body in bytes. Most bodies fit.
	firstRead = 4 << 10
	// readGrowth is the factor by which a full buffer grows. Below earnest bytes, a client takes at
	// most this many times the memory of what it has sent.
	readGrowth = 4
	// earnest is how many bytes of a body must have arrived before the rest gets its buffer at
	// once: larger buffers are not copied (TestR2LegalListOf100MB in test/oracle/faults).
	earnest = 4 << 20
)

// read returns the whole body. Its buffer grows with what arrives, so Content-Length alone costs
// nothing.
func (h *handler) read(req *http.Request) ([]byte, error) {
	size := int(req.ContentLength) // negative: unknown
	room := firstRead
	body := h.bodies.get(atMost(room, size))[:0]
	for len(body) != size {
		if len(body) == room {
			if room *= readGrowth; room > earnest && size > 0 {
				room = size
			}
			if err := makeRoom(req.Body, atMost(room, size)); err != nil {
				h.bodies.put(body)
				return nil, err
			}
			body = h.larger(body, atMost(room, size))
		}
		n, err := req.Body.Read(body[len(body):atMost(room, size)])
		body = body[:len(body)+n]
		if err == nil || len(body) == size {
			continue
		}
		if errors.Is(err, io.EOF) && size < 0 {
			break
		}
		h.bodies.put(body)
		return nil, err
	}
	return body, nil
}

// makeRoom asks for a buffer of size bytes, if the body is bounded together with others.
func makeRoom(body io.Reader, size int) error {
	if bounded, ok := body.(interface{ Room(n int64) error }); ok {
		return bounded.Room(int64(size))
	}
	return nil
}

// atMost returns n, or size if that is known and smaller.
func atMost(n, size int) int {
	if size >= 0 {
		return min(n, size)
	}
	return n
}

// larger returns body in a buffer of the given size.
func (h *handler) larger(body []byte, size int) []byte {
	if cap(body) >= size {
		return body
	}
	larger := h.bodies.get(size)[:len(body)]
	copy(larger, body)
	h.bodies.put(body)
	return larger
}

// write sends the answer with its length, so it goes out in one piece and not in chunks.
func (h *handler) write(w http.ResponseWriter, c *conversion) error {
	header := w.Header()
	header["Content-Type"] = h.contentType
	header["Content-Length"] = []string{strconv.Itoa(c.out.Len())}
	gathered := h.writers.Get().(*bufio.Writer) //nolint:forcetypeassert // New's
	gathered.Reset(w)
	_, err := c.out.WriteTo(gathered)
	if err == nil {
		err = gathered.Flush()
	}
	gathered.Reset(nil)
	h.writers.Put(gathered)
	return err
}

// refuse answers a body that could not be read, or a review that there is no memory for.
func refuse(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	var invalid *RequestError
	var status interface{ StatusCode() int }
	switch {
	case errors.As(err, &invalid):
		apistatus.Write(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	case errors.As(err, &tooLarge):
		apistatus.Write(w, http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge,
			"body is larger than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes, raise max-body or send fewer objects at once")
	case errors.As(err, &status) && status.StatusCode() == http.StatusTooManyRequests:
		apistatus.WriteOverloaded(w, err.Error())
	case errors.As(err, &status) && status.StatusCode() == http.StatusRequestEntityTooLarge:
		apistatus.Write(w, http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, err.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		apistatus.Write(w, http.StatusRequestTimeout, metav1.StatusReasonTimeout,
			"body did not arrive in time, raise body-timeout or lower min-body-rate, or send fewer objects at once")
	default:
		apistatus.Write(w, http.StatusBadRequest, metav1.StatusReasonBadRequest,
			"body ended early, send as much as Content-Length says")
	}
}
