package crdschema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A ParseError is one thing that is wrong with the text of a CRD.
type ParseError struct {
	// File and Line tell where; lines count from 1, and 0 means that it is not known.
	File string
	Line int
	// Text says what is wrong and what to do about it.
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
func (p ParseErrors) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first *ParseError.
func (p ParseErrors) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

// sorted returns the problems in order and each once, as an error; nil if there are none.
func (p ParseErrors) sorted() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b *ParseError) int { return cmp.Compare(a.Line, b.Line) })
	return slices.CompactFunc(p, func(a, b *ParseError) bool { return *a == *b })
}
