package crdschema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A ParseError is one thing that is wrong with the text of a CRD.
type ParseError struct {
	// Line counts from 1; 0 means that it is not known.
	File string
	Line int
	// Text is the problem and its remedy.
	Text string
}

// Error implements error: FILE:LINE: TEXT.
func (p *ParseError) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// ParseErrors is all that is wrong with a text, ordered by line. Parse returns it as its error.
type ParseErrors []*ParseError

// Error implements error: one line for each problem.
func (p ParseErrors) Error() string { return errors.Join(p.Unwrap()...).Error() }

// Unwrap lets errors.As find the first *ParseError.
func (p ParseErrors) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

// sorted returns the distinct problems in order as an error, or nil.
func (p ParseErrors) sorted() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b *ParseError) int { return cmp.Compare(a.Line, b.Line) })
	return slices.CompactFunc(p, func(a, b *ParseError) bool { return *a == *b })
}
