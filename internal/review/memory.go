package review

import (
	"cmp"
	"errors"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

const (
	// Memory is reserved for objectsAtOnce objects at a time, objectSize bytes each: the outline of
	// the object, its failure, its place in the answer, and the garbage of growing lists.
	objectsAtOnce = 4096
	objectSize    = 256
	// heavyObject is the size in bytes of the largest object that is converted next to any others.
	heavyObject = 64 << 10
	// wholeAnswer is the size in bytes up to which an answer is made whole before it is written, so
	// that a client that does not read it keeps no document. A larger one is written piece by
	// piece.
	wholeAnswer = 1 << 20
)

// errAbandoned is only for converters: the review is answered already.
var errAbandoned = errors.New("the review was answered without this conversion")

// reserve asks for memory. Its error is the answer to the request, even if a converter drops it.
func (c *conversion) reserve(size int64) error {
	switch {
	case c.hooks.Reserve == nil:
		return nil
	case c.task.abandoned():
		return errAbandoned
	}
	err := c.hooks.Reserve(c.ctx, size)
	c.refused = cmp.Or(c.refused, err)
	return err
}

// heavyTurn waits until the object may be converted next to others: one of a large size may take
// many times that while it is converted.
func (c *conversion) heavyTurn(at jsondoc.Span) error {
	size := int64(at.End - at.Start)
	if size <= heavyObject {
		size = 0
	}
	if c.hooks.Heavy == nil || size == c.heavy {
		return nil
	}
	c.heavy = size
	err := c.hooks.Heavy(c.ctx, size)
	c.refused = cmp.Or(c.refused, err)
	return err
}

// reserveAnswer asks for the memory to make the answer whole, if it is to be. It also finds out
// whether the request was given up.
func (c *conversion) reserveAnswer() error {
	size := c.out.Len()
	if size > wholeAnswer {
		size = 0
	}
	return c.reserve(int64(size))
}
