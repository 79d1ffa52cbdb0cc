// Package syntax reads Conversion files: their parts, the position of each part, and every problem
// that shows without the CRD.
//
// [Parse] reads one file, and [Link] connects those that are given together. After that they are
// immutable, so they are safe for concurrent use.
package syntax

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// The types of documents in a file of rules.
const (
	APIVersion   = "conversion.webhookd.io/v1beta1"
	Kind         = "Conversion"
	KindRuleSets = "RuleSets"
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
	RuleSets    []*RuleSets
	Unread      bool // a document could not be read at all
}

// A Conversion says how the versions of one CRD relate.
type Conversion struct {
	Pos      Position // of the document's first key
	Name     string   // metadata.name, the name of the CRD
	NamePos  Position
	Hub      string // a version's name
	HubPos   Position
	RuleSets []*RuleSet // in the order of the file
	Versions []*Version
	Broken   bool // a finding says that a part other than its rules could not be read
	Doubtful bool // a finding says that a part cannot be meant as written: do not convert by it
	Wrong    bool // there are findings, perhaps only about parts without effect
	end      int  // the line at which the next document of the file starts; 0: there is none
}

// Has reports whether a position is in the document.
func (c *Conversion) Has(at Position) bool {
	return at.File == c.Pos.File && at.Line >= c.Pos.Line && (c.end == 0 || at.Line < c.end)
}

// AllSets returns the rule sets that its rules may lead to: its own, and those of other documents.
func (c *Conversion) AllSets() []*RuleSet { return slices.Concat(c.RuleSets, c.Shared()) }

// Version returns the version of that name, or nil. The hub is not one of them.
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
	Pos      Position // of its name
	Name     string   // as messages have it: with that of its document if that is a RuleSets
	Rules    []*Rule
	In       *RuleSets // nil for a rule set of a Conversion
	Doubtful bool      // a finding says that it, or one that it leads to, cannot be meant as written
}

// Unmapped says what to do with fields that neither rules nor copying cover.
type Unmapped string

// The values of Unmapped.
const (
	Error    Unmapped = "Error"    // report a finding; the default
	Preserve Unmapped = "Preserve" // keep them in annotations
)

// An Omission says in which versions a rule leaves empty values out, as Go's omitempty does: "", 0,
// false, null, [] and {}.
type Omission string

// The values of Omission. The zero Omission is none.
const (
	OmitInSpoke Omission = "Spoke"
	OmitInHub   Omission = "Hub"
	OmitInBoth  Omission = "Both"
)

// A Version relates one version to the hub.
type Version struct {
	Pos      Position // of its name
	Name     string
	SameAs   *Text // another version, whose keys are here as well; nil if there is none
	Unmapped Unmapped
	// MayBeAbsent says why what the other version requires may stay absent everywhere, or is nil.
	MayBeAbsent *Text
	Rules       []*Rule
	Broken      bool // a finding says that it has an unknown key
}

// A Rule relates a place in a version to a place in the hub. A key that the file does not give is
// nil. A rule of the file with a list of places is one Rule for each, all with its index.
type Rule struct {
	Pos            Position
	Index          int    // from 1 in its list, as in "rule 2"
	Set            string // the name of its rule set, or empty for a rule of a version
	Broken         bool   // a finding says that a part of it could not be read
	Spoke          *Place // in this version
	Hub            *Place // in the hub
	Values         []Mapping
	HubValues      []Mapping
	Template       *Text
	Absent         *Text
	Codec          *Text
	ToHub          *Text
	ToSpoke        *Text
	WhenToHub      *Text
	WhenToSpoke    *Text
	Use            *Text
	Uses           *RuleSet // that Use names; [Link] finds it, and it is nil if there is none
	DefaultInSpoke *Literal // of Spoke where the hub gives none; for named paths, by their names
	DefaultInHub   *Literal // the same for Hub
	DefaultFrom    *Text    // "schema": each side has the default of its schema
	Drop           *Text
	OmitEmpty      Omission
	Unmapped       Unmapped // of fields below both places, or empty: as around them
	MayBeAbsent    *Text    // why the places, and all below them, may stay absent where they are required
	Go             *Text
	Transitional   bool // other replicas may lack the rule, or have another one for its places
}

// String names the rule as messages do.
func (r *Rule) String() string {
	if r.Set != "" {
		return fmt.Sprintf("rule %d of %s", r.Index, r.Set)
	}
	return fmt.Sprintf("rule %d", r.Index)
}

// Guarded reports whether the rule has a condition.
func (r *Rule) Guarded() bool { return r.WhenToHub != nil || r.WhenToSpoke != nil }

// OnlyMayBeAbsent reports whether the rule says nothing but that its one place may stay absent.
func (r *Rule) OnlyMayBeAbsent() bool {
	return r.MayBeAbsent != nil && r.OnlyKeeps()
}

// OnlyKeeps reports whether the rule converts nothing: its places are kept as without it.
func (r *Rule) OnlyKeeps() bool {
	return (r.Spoke == nil || r.Hub == nil) && r.ToHub == nil && r.ToSpoke == nil && r.Drop == nil && r.DefaultInSpoke == nil && r.DefaultInHub == nil
}

// A Place is one path without a name, or any number of named ones.
type Place struct {
	Pos    Position
	Named  bool
	Paths  []NamedPath
	listed bool // any number of paths, while the rule is read: see [Rule.each]
}

// A NamedPath is a path with its name in expressions and templates. A path on its own has no name.
type NamedPath struct {
	Name    string
	NamePos Position // zero if it has no name
	Pos     Position // of the path's text
	Path    Path
	origin  origin
}

// Span returns where a segment of the path starts, and the column behind it if that is in the same
// line, else 0.
func (n NamedPath) Span(s Segment) (start Position, endColumn int) {
	return n.origin.span(s.Offset, s.End)
}

// A Mapping is an entry of values: a value, and what it becomes on the other side.
type Mapping struct {
	Pos      Position // of From
	From, To Scalar
}

// A Scalar is a JSON value other than a list or an object.
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

// Span returns the position of byte from, whatever the text's quotes and line breaks, and the
// column of byte to if it is in the same line, else 0.
func (t *Text) Span(from, to int) (start Position, endColumn int) { return t.origin.span(from, to) }

// A Literal is any JSON value. For a default of named paths, Members has the value of each.
type Literal struct {
	Pos      Position
	JSON     []byte
	Members  []Member  // of an object, in the order of the file; nil for any other value
	Elements []Literal // of a list
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
