package review

import (
	"bytes"
	"errors"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// The size of a body of ordinary objects predicts what its review costs. The size of a body of tiny
// arrays and objects does not: a value of two bytes may take a hundred once it is decoded. A review
// reserves the difference.

const (
	// plainObject is the size in bytes up to which an object reserves nothing. Its conversion is
	// over before another one runs, so there are only as many at a time as processors.
	plainObject = 16 << 10
	// valueSize is how many bytes a value takes while its object is converted: as a member of the
	// document and of the document that checks the reverse conversion, or twice as a Go value.
	valueSize = 256
	// Memory is reserved for objectsAtOnce objects at a time, objectSize bytes each: the outline of
	// the object, its failure, its place in the answer, and the garbage of growing lists.
	objectsAtOnce = 4096
	objectSize    = 256
)

// errAbandoned is only for converters: the review is answered already.
var errAbandoned = errors.New("the review was answered without this conversion")

// reserve asks for memory. Its error is the answer to the request, even if a converter drops it.
func (c *conversion) reserve(size int64) error {
	if c.task.abandoned() {
		return errAbandoned
	}
	err := c.hooks.Reserve(c.ctx, size)
	if err != nil && c.refused == nil {
		c.refused = err
	}
	return err
}

// reserveFor asks for the memory to convert an object, less what earlier objects reserved.
func (c *conversion) reserveFor(at jsondoc.Span) error {
	if c.hooks.Reserve == nil || at.End-at.Start <= plainObject {
		return nil
	}
	text := c.doc.Text(at)
	values := bytes.Count(text, []byte{','}) + bytes.Count(text, []byte{'['}) + bytes.Count(text, []byte{'{'}) // may overcount
	size := int64(values)*valueSize + int64(len(text))                                                         // a text that is read is a copy
	if size <= c.reserved {
		return nil
	}
	if err := c.reserve(size - c.reserved); err != nil {
		return err
	}
	c.reserved = size
	return nil
}
