// Package yamljson turns YAML into JSON text and back without touching what a conversion must not
// touch: a number that JSON can spell keeps its spelling (9007199254740993, 1.10, 1e21), and keys keep
// their order. Comments are lost, since JSON has none.
//
// YAML is read as kubectl reads it (sigs.k8s.io/yaml, YAML 1.1 by go-yaml v2), so that a manifest means
// here what it means in a cluster: yes, no, on and off are booleans, and dates are strings. What means
// different things to different readers, or nothing in JSON, is an error: duplicate keys, keys that are
// neither words nor whole numbers, infinity, and tags.
package yamljson

import "fmt"

// An Error says what is wrong with a YAML text, and how to write it. It quotes names of keys, but no
// value.
type Error struct {
	Line    int // from 1; 0 where not known
	Problem string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}
