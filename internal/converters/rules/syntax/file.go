// Package syntax reads Conversion files: what stands where, with the position of every part, and every problem that can be
// told without the CRD.
//
// The values that [Parse] returns are not changed by anybody, so they are safe for concurrent use.
package syntax

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// What a Conversion file has to say of itself.
const (
	APIVersion = "conversion.webhookd.io/v1alpha1"
	Kind       = "Conversion"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 1 << 20

// Position is a place in a file.
type Position = finding.Position

// A File is a parsed file with all of its documents.
type File struct {
	Name        string
	Text        []byte
	Conversions []*Conversion
}

// A Conversion says how the versions of one CRD relate.
type Conversion struct {
	Pos      Position // of the document's first key
	Name     string   // metadata.name: that of the CRD
	NamePos  Position
	Hub      string // a version's name
	HubPos   Position
	RuleSets []*RuleSet // in the order of the file
	sets     map[string]*RuleSet
	Versions []*Version
	Broken   bool // a part of it outside of its rules could not be read, which a finding says
	Doubtful bool // a finding says that something of it cannot be meant as it stands: nobody should convert by it
	Wrong    bool // there are findings, of which some may be about what has no effect
}

// RuleSet returns the rule set of that name, or nil.
func (c *Conversion) RuleSet(name string) *RuleSet { return c.sets[name] }

// Version returns the version of that name, or nil. The hub is none of them.
func (c *Conversion) Version(name string) *Version {
	for _, v := range c.Versions {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// A RuleSet is a list of rules for a type that occurs in many places.
type RuleSet struct {
	Pos   Position // of its name
	Name  string
	Rules []*Rule
}

// Unmapped says what to do with fields that no rule and no copy covers.
type Unmapped string

// What unmapped may be.
const (
	Error    Unmapped = "Error"    // a finding; the default
	Preserve Unmapped = "Preserve" // they are kept in annotations
)

// A Version relates one version to the hub.
type Version struct {
	Pos         Position // of its name
	Name        string
	Unmapped    Unmapped
	UnmappedPos Position // zero where it is not given
	Rules       []*Rule
	Broken      bool // it has a key that there is not, which a finding says: what it is about is not known
}

// A Rule says that a place in a version is a place in the hub. What is nil was not given.
type Rule struct {
	Pos        Position
	Index      int    // from 1 in its list, as messages count: "rule 2"
	Set        string // the rule set that it is in; empty: it is a version's
	Broken     bool   // a part of it could not be read, which a finding says
	Field      *Place // in the version
	Hub        *Place // in the hub
	Values     []Mapping
	HubValues  []Mapping
	Template   *Text
	Absent     *Text
	Codec      *Text
	ToHub      *Text
	FromHub    *Text
	When       *Text
	WhenHub    *Text
	Use        *Text
	Default    *Literal // what Field gets where the hub gives none; for named paths an object of some of them
	HubDefault *Literal // the same for Hub
	Drop       *Text
	Go         *Text
}

// String names the rule as messages do.
func (r *Rule) String() string {
	if r.Set != "" {
		return fmt.Sprintf("rule %d of %s", r.Index, r.Set)
	}
	return fmt.Sprintf("rule %d", r.Index)
}

// A Place is a path, or any number of named ones.
type Place struct {
	Pos   Position
	Named bool
	Paths []NamedPath
}

// A NamedPath is a path with the name that expressions and templates know it by. A path that is alone has no name.
type NamedPath struct {
	Name    string
	NamePos Position // zero where it has no name
	Pos     Position // of the path's text
	Path    Path
	origin  origin
}

// At returns the position of a byte of the path's text.
func (n NamedPath) At(offset int) Position { return n.origin.at(offset) }

// Span returns where a segment of the path starts, and the column behind it.
func (n NamedPath) Span(s Segment) (start Position, endColumn int) {
	return span(n.origin, s.Offset, s.End)
}

// Label returns the name with a colon and a space, and nothing for a path that is alone.
func (n NamedPath) Label() string {
	if n.Name == "" {
		return ""
	}
	return n.Name + ": "
}

// A Mapping is an entry of values: what a value is on the other side.
type Mapping struct {
	Pos      Position // of From
	From, To Scalar
}

// A Scalar is a JSON value that is no list and no object.
type Scalar struct {
	Pos  Position
	JSON []byte
}

// A Text is a string with its position.
type Text struct {
	Pos    Position
	Value  string
	origin origin
}

// At returns the position of a byte of the text, whatever its quotes and line breaks; that of the text as a whole where
// this cannot be told.
func (t *Text) At(offset int) Position { return t.origin.at(offset) }

// Span returns the position of byte from, and the column of byte to if that is in the same line, else 0.
func (t *Text) Span(from, to int) (start Position, endColumn int) { return span(t.origin, from, to) }

// AtLine returns the position of a line, from 1, and a column, from 0 and in characters, of the text: how CEL counts.
func (t *Text) AtLine(line, column int) Position {
	offset := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(t.Value[offset:], '\n')
		if next < 0 {
			break
		}
		offset += next + 1
	}
	for i := range t.Value[offset:] {
		if column == 0 {
			return t.At(offset + i)
		}
		column--
	}
	return t.At(len(t.Value))
}

func span(o origin, from, to int) (start Position, endColumn int) {
	start = o.at(from)
	if end := o.at(to); end.Line == start.Line && end.Column > start.Column {
		endColumn = end.Column
	}
	return start, endColumn
}

// A Literal is a JSON value of any kind. Where it is the default of named paths, Members has what it gives each of them.
type Literal struct {
	Pos     Position
	JSON    []byte
	Members []Member // of an object, in the order of the file; nil for any other value
}

// Member returns the member of that name, or nil.
func (l *Literal) Member(name string) *Literal {
	if l == nil {
		return nil
	}
	for i := range l.Members {
		if l.Members[i].Name == name {
			return &l.Members[i].Literal
		}
	}
	return nil
}

// A Member is a member of an object.
type Member struct {
	Name    string
	NamePos Position
	Literal
}
