package jsondoc

import "fmt"

// A SyntaxError says where text stops being the JSON that this package accepts. It never quotes the text.
type SyntaxError struct {
	// Offset is the place of the problem in bytes from the start of the text.
	Offset int
	// Problem says what is wrong there.
	Problem string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s: byte %d", e.Problem, e.Offset) }

// A PathError says which path of an object could not be read or edited, and why.
type PathError struct {
	// Problem says what is wrong at the path.
	Problem string
	// Path is the place, as FormatPath writes it.
	Path string
}

// Error implements error.
func (e *PathError) Error() string { return e.Problem + ": " + e.Path }

func (s *Scanner) unexpected(i int) error {
	if i >= len(s.text) {
		return &SyntaxError{len(s.text), "unexpected end of the text"}
	}
	return &SyntaxError{i, "unexpected character"}
}

func (s *Scanner) tooDeep(i int) error {
	return &SyntaxError{i, fmt.Sprintf("nested deeper than %d levels", s.maxDepth)}
}
