package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Hooks are told what happens. Each may be nil. They are called many at once, so they must be quick and safe for concurrent
// use; those of one review are called one after the other, until it is answered. They are never told a field's value (invariant I11); names that a client made up are
// in Result.Message and in the paths of GuardRefused only, all others are the registry's.
type Hooks struct {
	// ReviewDone is called once for each body, after the answer was made.
	ReviewDone func(ctx context.Context, r Result)
	// ObjectsDone is called for each run of objects of one pair in a review. Objects that were at the desired version
	// already are not told.
	ObjectsDone func(o Objects)
	// GuardRefused is called for each path that a converter changed and must not.
	GuardRefused func(pair Pair, path string)
	// Panicked is called for each panic of a converter, even after its review was answered, and for one of a hook on a
	// goroutine that is not the request's.
	Panicked func(ctx context.Context, p Panic)
	// UnknownFields is called for each run of objects of one pair in a review if any of them had fields that no version has in
	// the converter's copy of the CRD. The kind is that of the registry which the review saw.
	UnknownFields func(kind *converters.Kind, pair Pair)
	// Stuck is called with 1 when a conversion of the kind KIND.GROUP has not returned by its deadline, so that its review
	// was answered without it, and with -1 when it has returned after all.
	Stuck func(kind string, more int)

	// Reserve is asked before a review takes more memory than its body lets expect: so many bytes more for the request whose
	// context ctx is. An error is the answer to the whole request; its StatusCode method says with which HTTP code.
	Reserve func(ctx context.Context, bytes int64) error
	// Hold is called when a review is answered while its converter still runs: what the request of ctx holds, its body and
	// what Reserve granted, is held until release is called. A call of Reserve may be in progress.
	Hold func(ctx context.Context) (release func())
}

// Unknown stands in a Pair for what the registry does not know.
const Unknown = "unknown"

// A Pair is a kind, as KIND.GROUP, and the versions of a conversion. All its values are from the registry, or Unknown.
type Pair struct{ Kind, From, To string }

func unknownPair() Pair { return Pair{Unknown, Unknown, Unknown} }

// Objects are some objects of one pair that follow each other in a review.
type Objects struct {
	Pair Pair
	// Failed are those that could not be converted, WithKept those of which values were kept in annotations.
	Failed, WithKept int
	// TooLarge are those that failed because what had to be kept did not fit into the annotations.
	TooLarge int
	// CostLimited are those of which an expression reached its cost limit.
	CostLimited int
	// Kept has the sizes of those whose result has annotations with kept values, of third versions as well. It must not be
	// kept.
	Kept []Kept
	// Durations has the time that each took, one for each object. It must not be kept.
	Durations []time.Duration
}

// Kept are sizes in bytes of names and values: of the annotations in which values are kept, and of all annotations of the same
// object, as the API server counts them against its limit of 256 KiB.
type Kept struct{ Bytes, Annotations int }

// A Result is what became of one review.
type Result struct {
	// UID is the request's, or a hash of it if it is not like one.
	UID string
	// Pair is that of the first object that needed a conversion.
	Pair Pair
	// Objects is the number of objects in the request, Failed that of those which could not be converted.
	Objects, Failed int
	// Rejected says why there is no review in answer; Message is that of a failed one.
	Rejected error
	Message  string
	// BytesIn and BytesOut are the sizes of the bodies.
	BytesIn, BytesOut int
	// Duration is the time from the whole body to the whole answer, and At its end.
	Duration time.Duration
	At       time.Time
}

// A Panic is a panic of a converter. It holds no value of the object.
type Panic struct {
	Pair Pair
	// UID is that of the review.
	UID string
	// Type is the type of the panic's value, or the text of a runtime error.
	Type string
	// Stack are the functions and lines, innermost first, one a line.
	Stack string
}

// batch gathers the objects of one pair that follow each other, so that a list costs one call of the hook.
type batch struct {
	Objects

	first Pair
	old   *converters.Kind // whose copy of the CRD lacks fields of one of the objects; nil: none does
}

// observe counts one object.
func (c *conversion) observe(pair Pair, took time.Duration, err error) {
	b := &c.batch
	if pair != b.Pair {
		c.flush()
		b.Pair = pair
		if b.first == (Pair{}) {
			b.first = pair
		}
	}
	b.Durations = append(b.Durations, took)
	if c.noted.UnknownFields {
		b.old = c.kind
	}
	if c.noted.CostLimit {
		b.CostLimited++
	}
	if err == nil {
		c.observeKept()
		return
	}
	b.Failed++
	if c.noted.TooLarge {
		b.TooLarge++
	}
	var refused *GuardError
	if c.hooks.GuardRefused != nil && errors.As(err, &refused) {
		for _, path := range refused.Paths {
			c.hooks.GuardRefused(pair, path)
		}
	}
}

// observeKept counts what the result of a conversion has in its annotations.
func (c *conversion) observeKept() {
	b := &c.batch
	if c.keeps {
		b.WithKept++
	}
	if c.noted.KeptBytes > 0 {
		b.Kept = append(b.Kept, Kept{c.noted.KeptBytes, c.noted.AnnotationBytes})
	}
}

// flush tells the hooks of the batch and starts the next.
func (c *conversion) flush() {
	b := &c.batch
	if b.Pair != (Pair{}) && c.hooks.ObjectsDone != nil {
		c.hooks.ObjectsDone(b.Objects)
	}
	if b.old != nil && c.hooks.UnknownFields != nil {
		c.hooks.UnknownFields(b.old, b.Pair)
	}
	b.old = nil
	b.Objects = Objects{Pair: b.Pair, Durations: b.Durations[:0], Kept: b.Kept[:0]}
}

// report tells the hook of the whole review.
func (c *conversion) report(ctx context.Context, err error, took time.Duration) {
	if c.hooks.ReviewDone == nil {
		return
	}
	r := Result{
		UID: c.loggableUID(), Pair: c.batch.first,
		Objects: len(c.envelope.objects), Failed: c.failed, Message: c.message,
		Rejected: err, BytesIn: c.bytesIn, Duration: took, At: c.now,
	}
	if err == nil {
		r.BytesOut = c.out.Len()
	}
	c.hooks.ReviewDone(ctx, r)
}

// loggableUID returns the uid if it is like one of the API server's, else a hash, so that clients cannot inject log text.
func (c *conversion) loggableUID() string {
	literal := c.doc.Text(c.envelope.uid.at)
	if len(literal) <= len(`""`) || literal[0] != '"' {
		return ""
	}
	if uid := c.envelope.uid.says; !c.envelope.uid.long && len(uid) <= 64 && isPlain(uid) {
		return uid
	}
	hash := sha256.New()
	_ = jsondoc.WriteUnquoted(hash, literal) // never fails
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)[:8])
}

// isPlain reports whether a text has only letters, digits and dashes.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}
