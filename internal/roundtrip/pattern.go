package roundtrip

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern makes strings that a regular expression finds something in.
type pattern struct {
	parsed  *syntax.Regexp
	matches *regexp.Regexp
}

// newPattern returns nil for what is no regular expression: the API server takes no CRD with one.
func newPattern(text string) *pattern {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	matches, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return &pattern{parsed, matches}
}

// generate returns a string that mostly matches: assertions within the text are not looked at, so look afterwards. Repeated
// parts are there up to limit times more than they must.
func (p *pattern) generate(r *rand.Rand, limit int) string {
	g := patternWriter{r: r, limit: limit}
	g.write(p.parsed)
	return g.text.String()
}

type patternWriter struct {
	r     *rand.Rand
	limit int
	text  strings.Builder
}

// maxPatternText bounds what nested repetitions make.
const maxPatternText = 1 << 12

func (g *patternWriter) write(e *syntax.Regexp) {
	if g.text.Len() > maxPatternText {
		return
	}
	switch e.Op {
	case syntax.OpLiteral:
		for _, c := range e.Rune {
			g.text.WriteRune(c)
		}
	case syntax.OpCharClass:
		g.text.WriteRune(g.runeOf(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.text.WriteRune(g.runeOf([]rune{' ', '~', 0xa1, 0xff}))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range e.Sub {
			g.write(sub)
		}
	case syntax.OpAlternate:
		g.write(e.Sub[g.r.IntN(len(e.Sub))])
	case syntax.OpStar:
		g.repeat(e.Sub[0], 0, -1)
	case syntax.OpPlus:
		g.repeat(e.Sub[0], 1, -1)
	case syntax.OpQuest:
		g.repeat(e.Sub[0], 0, 1)
	case syntax.OpRepeat:
		g.repeat(e.Sub[0], e.Min, e.Max)
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	}
}

func (g *patternWriter) repeat(e *syntax.Regexp, least, most int) {
	if most < 0 || most > least+g.limit {
		most = least + g.limit
	}
	for range least + g.r.IntN(most-least+1) {
		if g.write(e); g.text.Len() > maxPatternText {
			return
		}
	}
}

// runeOf picks a rune of ranges, mostly one that can be read.
func (g *patternWriter) runeOf(ranges []rune) rune {
	if len(ranges) == 0 {
		return utf8.RuneError
	}
	if g.r.IntN(16) > 0 {
		count := 0
		for pair := range slices.Chunk(ranges, 2) {
			count += max(0, int(min(pair[1], '~')-max(pair[0], ' '))+1)
		}
		if count > 0 {
			return nth(ranges, g.r.IntN(count))
		}
	}
	i := 2 * g.r.IntN(len(ranges)/2)
	c := ranges[i] + g.r.Int32N(ranges[i+1]-ranges[i]+1)
	if !utf8.ValidRune(c) {
		return ranges[i]
	}
	return c
}

// nth returns the n-th rune of the ranges that is printable ASCII.
func nth(ranges []rune, n int) rune {
	for pair := range slices.Chunk(ranges, 2) {
		first := max(pair[0], ' ')
		if count := max(0, int(min(pair[1], '~')-first)+1); n >= count {
			n -= count
			continue
		}
		return first + rune(n) //nolint:gosec // less than 95
	}
	return utf8.RuneError
}
