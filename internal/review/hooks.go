package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
)

// Hooks observe reviews. Each may be nil. They are called concurrently, so they must be quick and
// safe for concurrent use; until a review is answered, its hooks are called one at a time. They
// never get a field's value (invariant I11). Names that a client chose are only in Result.Message
// and in the paths of GuardRefused; all others are from the registry.
type Hooks struct {
	// ReviewDone is called once for each body, after the answer is built.
	ReviewDone func(ctx context.Context, r Result)
	// ObjectsDone is called for each run of objects of one pair in a review. It leaves out objects
	// that had the desired version already.
	ObjectsDone func(o Objects)
	// GuardRefused is called for each path that a converter changed but must not change.
	GuardRefused func(pair Pair, path string)
	// Panicked is called for each panic of a converter, even after its review was answered, and for
	// each panic of a hook on a goroutine other than the request's.
	Panicked func(ctx context.Context, p Panic)
	// UnknownFields is called for each run of objects of one pair in a review if any of them had
	// fields that no version in the converter's copy of the CRD has. The kind is from the registry
	// that the review used.
	UnknownFields func(kind *converters.Kind, pair Pair)
	// Stuck is called with 1 when a conversion of the kind KIND.GROUP misses its deadline and its
	// review is answered without it, and with -1 when it returns after all.
	Stuck func(kind string, delta int)

	// Reserve is called as a review takes more memory than its body, with the context of the
	// request and the additional bytes, and at least once, after the conversion. An error becomes
	// the answer to the whole request, with the HTTP code that its StatusCode method returns.
	Reserve func(ctx context.Context, bytes int64) error
	// Heavy is called before an object of more than 64 KiB is converted, with its size, and with 0
	// when there is none any more. An error is as that of Reserve.
	Heavy func(ctx context.Context, bytes int64) error
	// Settle is called before the answer is written, with the bytes that the request needs until
	// then, its body included.
	Settle func(ctx context.Context, bytes int64)
	// Yield is called when a review begins to wait for a converter in Go, which may wait as well.
	Yield func(ctx context.Context)
	// Hold is called when a review is answered while its converter still runs. The memory of the
	// request (its body and what Reserve granted) stays counted until release is called. A call of
	// Reserve may be in progress.
	Hold func(ctx context.Context) (release func())
}

// Unknown replaces what the registry does not know in a Pair.
const Unknown = "unknown"

// A Pair is a kind, as KIND.GROUP, and the versions of a conversion. All values are from the
// registry or Unknown.
type Pair struct{ Kind, From, To string }

func unknownPair() Pair { return Pair{Unknown, Unknown, Unknown} }

// Objects are consecutive objects of one pair in a review.
type Objects struct {
	Pair Pair
	// Failed counts the objects that could not be converted, WithKept those with kept values in
	// their annotations.
	Failed, WithKept int
	// TooLarge counts the objects that failed because their kept values did not fit into the
	// annotations.
	TooLarge int
	// CostLimited counts the objects for which an expression reached its cost limit.
	CostLimited int
	// Kept has the sizes for each object whose result has kept values in its annotations, including
	// those of third versions. Hooks must copy it.
	Kept []Kept
	// Durations has the duration of each conversion. Hooks must copy it.
	Durations []time.Duration
}

// Kept has sizes in bytes of names and values: Bytes for the annotations with kept values,
// Annotations for all annotations of the object, as the API server counts them against its limit of
// 256 KiB.
type Kept struct{ Bytes, Annotations int }

// A Result describes one finished review.
type Result struct {
	// UID is the request's uid, or a hash of it if it does not look like one.
	UID string
	// Pair is the pair of the first object that needed a conversion.
	Pair Pair
	// Objects is the number of objects in the request, Failed how many of them could not be
	// converted.
	Objects, Failed int
	// Rejected says why the answer is not a review. Message is the message of a failed review.
	Rejected error
	Message  string
	// BytesIn and BytesOut are the sizes of the bodies.
	BytesIn, BytesOut int
	// Duration is the time from the complete body to the complete answer.
	Duration time.Duration
}

// A Panic describes a panic of a converter. It has no value of the object.
type Panic struct {
	Pair Pair
	// UID identifies the review.
	UID string
	// Type is the type of the panic's value, or the text of a runtime error.
	Type string
	// Stack has one function with its line per line, innermost first.
	Stack string
}

// A batch collects consecutive objects of one pair, so a list costs one call of the hook.
type batch struct {
	Objects

	first    Pair
	outdated *converters.Kind // its copy of the CRD lacks fields of an object; nil: none does
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
		b.outdated = c.kind
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

// observeKept counts the kept values in the annotations of a result.
func (c *conversion) observeKept() {
	b := &c.batch
	if c.keeps {
		b.WithKept++
	}
	if c.noted.KeptBytes > 0 {
		b.Kept = append(b.Kept, Kept{c.noted.KeptBytes, c.noted.AnnotationBytes})
	}
}

// flush passes the batch to the hooks and starts the next.
func (c *conversion) flush() {
	b := &c.batch
	if b.Pair != (Pair{}) && c.hooks.ObjectsDone != nil {
		c.hooks.ObjectsDone(b.Objects)
	}
	if b.outdated != nil && c.hooks.UnknownFields != nil {
		c.hooks.UnknownFields(b.outdated, b.Pair)
	}
	b.outdated = nil
	b.Objects = Objects{Pair: b.Pair, Durations: b.Durations[:0], Kept: b.Kept[:0]}
}

// report passes the whole review to its hook.
func (c *conversion) report(ctx context.Context, err error, took time.Duration) {
	if c.hooks.ReviewDone == nil {
		return
	}
	r := Result{
		UID: c.loggableUID(), Pair: c.batch.first,
		Objects: len(c.envelope.objects), Failed: c.failed, Message: c.message,
		Rejected: err, BytesIn: c.bytesIn, BytesOut: c.out.Len(), Duration: took,
	}
	c.hooks.ReviewDone(ctx, r)
}

// loggableUID returns the uid if it looks like one of the API server's, or is none, else a hash, so
// clients cannot inject log text.
func (c *conversion) loggableUID() string {
	if uid := c.envelope.uid.value; !c.envelope.uid.long && len(uid) <= 64 && isPlain(uid) {
		return uid
	}
	literal := c.doc.Text(c.envelope.uid.at)
	hash := sha256.Sum256(literal[1 : len(literal)-1])
	return "sha256:" + hex.EncodeToString(hash[:8])
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
