package generate

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern makes strings that a regular expression matches.
type pattern struct {
	parsed  *syntax.Regexp
	matches *regexp.Regexp
}

// patternsOf returns the patterns of some limits. A text that is not a regular expression counts as
// none: the API server does not accept a CRD with one.
func (g *Generator) patternsOf(l *limits) []*pattern {
	var patterns []*pattern
	for _, v := range l.all {
		if v.Pattern == "" {
			continue
		}
		if p := g.pattern(v.Pattern); p != nil {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// pattern returns the pattern of a text, nil if that is not a regular expression.
func (g *Generator) pattern(text string) *pattern {
	made, found := g.patterns.Load(text)
	if !found {
		made, _ = g.patterns.LoadOrStore(text, newPattern(text))
	}
	p, _ := made.(*pattern)
	return p
}

// quantity is the pattern that controller-gen writes for a resource.Quantity. It allows texts that
// no Go client can read, such as 6E+2668. All can read those of quantityRead.
const (
	quantity     = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	quantityRead = `^(\+|-)?[0-9]{1,3}(\.[0-9]{1,3})?([KMG]i|[mkMG]|[eE][0-9])?$`
)

// newPattern returns nil for a text that is not a regular expression.
func newPattern(text string) *pattern {
	matches, err := regexp.Compile(text)
	if text == quantity {
		text = quantityRead
	}
	parsed, errParse := syntax.Parse(text, syntax.Perl)
	if err != nil || errParse != nil {
		return nil
	}
	return &pattern{parsed, matches}
}

// generate returns a string that mostly matches. It ignores assertions within the text, so check
// the result. Parts that may be repeated are there up to limit times more than they must.
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
		g.text.WriteString(string(e.Rune))
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
	default: // matches no text of its own
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

// runeOf picks a rune of ranges, mostly printable ASCII.
func (g *patternWriter) runeOf(ranges []rune) rune {
	var readable []rune
	for pair := range slices.Chunk(ranges, 2) {
		for c := max(pair[0], ' '); c <= min(pair[1], '~'); c++ {
			readable = append(readable, c)
		}
	}
	if len(readable) > 0 && g.r.IntN(16) > 0 {
		return readable[g.r.IntN(len(readable))]
	}
	if len(ranges) == 0 {
		return utf8.RuneError
	}
	i := 2 * g.r.IntN(len(ranges)/2)
	if c := ranges[i] + g.r.Int32N(ranges[i+1]-ranges[i]+1); utf8.ValidRune(c) {
		return c
	}
	return ranges[i]
}
