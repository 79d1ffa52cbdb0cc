package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Source is one of the places a value can come from.
type Source int

// The sources, each winning over those before it.
const (
	FromDefault Source = iota
	FromFile
	FromEnv
	FromFlag
)

// Origin says where a value was written. The zero Origin is the default.
type Origin struct {
	Source Source
	Name   string // of the file, the variable, or the flag without dashes
	Line   int    // in the file, from 1; 0 where not known
}

// Origins maps the name of a key to where its value comes from, unless that is the default.
type Origins map[string]Origin

// String returns "default", "file NAME:LINE", "env NAME" or "flag --NAME".
func (o Origin) String() string {
	switch {
	case o.Source == FromFlag:
		return "flag --" + o.Name
	case o.Source == FromEnv:
		return "env " + o.Name
	case o.Source == FromFile && o.Line == 0:
		return "file " + printable(o.Name)
	case o.Source == FromFile:
		return fmt.Sprintf("file %s:%d", printable(o.Name), o.Line)
	}
	return "default"
}

// printable keeps a name on one line.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Error is one thing that is wrong with the configuration. It never quotes the value. [Load] joins
// all of them with [errors.Join].
type Error struct {
	Key    string // empty where the problem is not that of one key
	Origin Origin
	Err    error // what is wrong, and what to write instead
}

// Error returns the problem in one line.
func (p *Error) Error() string {
	if p.Key == "" {
		return fmt.Sprintf("%s: %v", p.Origin, p.Err)
	}
	return fmt.Sprintf("%s (%s): %v", p.Key, p.Origin, p.Err)
}

// Unwrap returns Err.
func (p *Error) Unwrap() error { return p.Err }
