package review

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
)

// NewHandler returns a handler that answers the ConversionReview in the body of a request with r. A
// body with a uid gets HTTP 200 and a review, even if its objects cannot be converted (invariant
// I8). Any other body gets an HTTP error with a metav1.Status, whose message the API server shows.
// The caller sets the size limit with http.MaxBytesReader and the deadline in the request's
// context.
func NewHandler(r *Reviewer) http.Handler {
	return &handler{reviewer: r, contentType: []string{"application/json"}}
}

// writeSize is the size of the buffer that joins the pieces of a large answer: each smaller write
// would be a TLS record and a system call of its own.
const writeSize = 64 << 10

// manyObjects is the size of a body in bytes from which it may be a list.
const manyObjects = 16 << 10

type handler struct {
	reviewer    *Reviewer
	contentType []string
	buffers     buffers
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.ContentLength < 0 || req.ContentLength > manyObjects {
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
	release := func() {
		if !c.overdue { // else a converter still uses the body
			h.reviewer.end(c)
			h.buffers.put(body)
		}
	}
	if err != nil {
		release()
		refuse(w, err)
		return
	}
	if h.answer(w, req, c, body, release) != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
}

// answer sends the answer with its length, so it goes out in one piece and not in chunks. It calls
// release as soon as the conversion and the body are not needed any more.
func (h *handler) answer(w http.ResponseWriter, req *http.Request, c *conversion, body []byte, release func()) error {
	size := c.out.Len()
	header := w.Header()
	header["Content-Type"] = h.contentType
	header["Content-Length"] = []string{strconv.Itoa(size)}
	if size > wholeAnswer {
		defer release()
		h.settle(req, int64(len(body))+c.out.Settle()+writeSize)
		gathered := bufio.NewWriterSize(w, writeSize)
		_, err := c.out.WriteTo(gathered)
		return errors.Join(err, gathered.Flush())
	}
	answer := c.out.AppendTo(h.buffers.get(size)[:0])
	release()
	h.settle(req, int64(cap(answer)))
	_, err := w.Write(answer) //nolint:gosec // JSON, as its type says
	h.buffers.put(answer)
	return err
}

// settle says how much memory the request needs from now on.
func (h *handler) settle(req *http.Request, bytes int64) {
	if h.reviewer.hooks.Settle != nil {
		h.reviewer.hooks.Settle(req.Context(), bytes)
	}
}

const (
	// firstRead is the size of the first buffer for a body in bytes. Most bodies fit.
	firstRead = 4 << 10
	// readGrowth is the factor by which a full buffer grows. Below earnest bytes, a client takes at
	// most this many times the memory of what it has sent.
	readGrowth = 8
	// earnest is how many bytes of a body must have arrived before the rest gets its buffer at
	// once: larger buffers are not copied (TestR2LegalListOf100MB in test/oracle/faults).
	earnest = 4 << 20
	// hugeBody is the size from which a body can take the place of only one other
	// (TestR2LegalListOf100MB).
	hugeBody = 16 << 20
)

// read returns the whole body. Its buffer grows with what arrives, so Content-Length alone costs
// nothing.
func (h *handler) read(req *http.Request) ([]byte, error) {
	size := int(req.ContentLength) // negative: unknown
	room := firstRead
	body := h.buffers.get(atMost(room, size))[:0]
	for len(body) != size {
		if len(body) == room {
			if room *= readGrowth; room > earnest && size > 0 {
				room = size
			}
			if err := makeRoom(req.Body, atMost(room, size)); err != nil {
				h.buffers.put(body)
				return nil, err
			}
			body = h.larger(body, atMost(room, size))
		}
		n, err := req.Body.Read(body[len(body):atMost(room, size)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && (size < 0 || len(body) == size):
			return body, nil
		default: // also after the last byte: there may be no turn for the request
			h.buffers.put(body)
			return nil, err
		}
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
	if size >= hugeBody {
		runtime.GC() // else what the body before took and this one live next to each other
	}
	larger := h.buffers.get(size)[:len(body)]
	copy(larger, body)
	h.buffers.put(body)
	return larger
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
			"body did not arrive in time, send it faster or fewer objects at once")
	default:
		apistatus.Write(w, http.StatusBadRequest, metav1.StatusReasonBadRequest,
			"body ended early, send as much as Content-Length says")
	}
}
