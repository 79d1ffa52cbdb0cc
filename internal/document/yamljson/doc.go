// Package yamljson converts between YAML and JSON text, and leaves alone what a conversion must not
// change: numbers that JSON can represent keep their spelling (9007199254740993, 1.10, 1e21), and
// keys keep their order. Comments are lost, since JSON has none.
//
// It reads YAML as kubectl does (sigs.k8s.io/yaml, YAML 1.1 by go-yaml v2), so that a manifest
// means here what it means in a cluster: yes, no, on and off are booleans, and dates are strings.
// YAML that is ambiguous, or that JSON cannot represent, is an error: duplicate keys, keys that are
// neither words nor whole numbers, infinity, and tags.
package yamljson

import "fmt"

// An Error says what is wrong with a YAML text and how to fix it. It quotes keys, but no values.
type Error struct {
	Line    int // from 1; 0 if unknown
	Problem string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}
