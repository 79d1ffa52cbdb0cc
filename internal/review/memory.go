package review

import (
	"bytes"
	"errors"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A body of ordinary objects tells by its size what its review will cost. One of tiny arrays and objects does not: a value of
// two bytes may take a hundred once somebody looks into it. What goes beyond the ordinary is asked for.

const (
	// plainObject is the size of an object in bytes up to which it is not looked at: its conversion is over before another
	// gets its turn, so that there are only as many at a time as processors.
	plainObject = 16 << 10
	// valueSize is what a value takes in bytes while its object is converted: as a member of a document and as that of the
	// one which proves the way back, or twice as a Go value.
	valueSize = 256
	// objectsAtOnce objects of objectSize bytes are what memory is asked for at a time: where the object stands, what is said
	// of it, its place in the answer, and what growing lists leave behind.
	objectsAtOnce = 4096
	objectSize    = 256
)

// errGivenUp is for converters alone: the review has its answer.
var errGivenUp = errors.New("the review was answered without this conversion")

// reserve asks for memory. Whatever becomes of the error on its way up, it is what the request is answered.
func (c *conversion) reserve(size int64) error {
	if c.task.givenUp() {
		return errGivenUp
	}
	err := c.hooks.Reserve(c.ctx, size)
	if err != nil && c.refused == nil {
		c.refused = err
	}
	return err
}

// reserveFor asks for the memory that the conversion of an object takes, as far as no other object took it before.
func (c *conversion) reserveFor(at jsondoc.Span) error {
	if c.hooks.Reserve == nil || at.End-at.Start <= plainObject {
		return nil
	}
	text := c.doc.Text(at)
	values := bytes.Count(text, []byte{','}) + bytes.Count(text, []byte{'['}) + bytes.Count(text, []byte{'{'}) // or a few less
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
