// Package finding has the findings of webhookd about Conversion files, with their positions, and
// renders them as text, JSON, GitHub workflow commands, SARIF and JUnit.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Position is a place in a text. The zero Position is nowhere.
type Position struct {
	File   string
	Line   int // from 1; 0: the whole file
	Column int // from 1, in characters; 0: the whole line
}

// String returns file:line:col, or the part of it that is known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A Severity says how serious a finding is.
type Severity string

// The severities. The zero Severity is Error.
const (
	Error   Severity = "error"   // values are lost, or the rules cannot work
	Warning Severity = "warning" // the API server may refuse a result
	Note    Severity = "note"    // nothing is wrong, but it is worth knowing
)

// Severities returns all severities, the most serious first.
func Severities() []Severity { return []Severity{Error, Warning, Note} }

// A Finding is a problem of a Conversion file, or a note about it.
type Finding struct {
	Pos       Position
	EndColumn int // the column behind the last character; 0: not known
	Severity  Severity
	Code      string // a stable name in kebab-case, such as no-such-field
	Message   string // lower case, without a full stop
	Hint      string // a remedy, or empty
	// Place is a part of the message that is the only one to differ from those of other findings of
	// one cause, such as the path of a field, or empty. Text for people has such findings as one.
	Place string
	// For says what the finding holds for, such as a kind and a version, if its position alone does
	// not: a rule may be used in several.
	For []string
}

// IsError reports whether the finding is an error.
func (f Finding) IsError() bool { return f.severity() == Error }

func (f Finding) severity() Severity { return cmp.Or(f.Severity, Error) }

// Worst returns the findings of a severity and those that are more serious.
func Worst(findings []Finding, least Severity) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool {
		return slices.Index(Severities(), f.severity()) > slices.Index(Severities(), least)
	})
}

// Text returns the message and what it holds for.
func (f Finding) Text() string {
	const most = 4
	if len(f.For) == 0 {
		return f.Message
	}
	return Few(f.For, most) + ": " + f.Message
}

// String returns the finding in one line of printable characters, without its hint. It names a
// severity other than error.
func (f Finding) String() string { return f.headline("", plain) }

// Sort returns the findings in the order of their positions, each once, with all that it holds for.
// It does not change its argument.
func Sort(findings []Finding) []Finding {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b Finding) int {
		return cmp.Or(a.Pos.Compare(b.Pos), strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message),
			strings.Compare(a.Hint, b.Hint))
	})
	kept := sorted[:0]
	for _, f := range sorted {
		if last := len(kept) - 1; last >= 0 && kept[last].says(f) {
			kept[last].For = both(kept[last].For, f.For)
		} else {
			kept = append(kept, f)
		}
	}
	clear(sorted[len(kept):])
	return kept
}

// says reports whether two findings are the same, perhaps for different versions.
func (f Finding) says(other Finding) bool {
	return f.Pos == other.Pos && f.Code == other.Code && f.Message == other.Message
}

// both returns what either of two findings holds for. One that needs no such text holds anyway.
func both(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Few lists texts for a message, and counts those beyond the first n.
func Few(texts []string, n int) string {
	if len(texts) > n {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:n], ", "), len(texts)-n)
	}
	return strings.Join(texts, ", ")
}
