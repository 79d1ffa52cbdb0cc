package roundtrip

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// findPatterns compiles all patterns below a place.
func (g *Generator) findPatterns(n *crdschema.Node) {
	if n == nil {
		return
	}
	if own := n.Structural().ValueValidation; own != nil {
		g.findIn(own)
	}
	for _, name := range n.Properties() {
		g.findPatterns(n.Property(name))
	}
	g.findPatterns(n.Values())
	g.findPatterns(n.Items())
}

func (g *Generator) findIn(v *schema.ValueValidation) {
	if v.Pattern != "" && g.patterns[v.Pattern] == nil {
		g.patterns[v.Pattern] = newPattern(v.Pattern)
	}
	for _, list := range [][]schema.NestedValueValidation{v.AllOf, v.AnyOf, v.OneOf} {
		for i := range list {
			g.findNested(&list[i])
		}
	}
}

func (g *Generator) findNested(v *schema.NestedValueValidation) {
	if v == nil {
		return
	}
	g.findIn(&v.ValueValidation)
	g.findNested(v.Items)
	g.findNested(v.AdditionalProperties)
	for name := range v.Properties {
		property := v.Properties[name]
		g.findNested(&property)
	}
}

// str makes a string.
func (m *maker) str(l *limits) string {
	var patterns []*pattern
	for _, v := range l.all {
		if p := m.patterns[v.Pattern]; p != nil {
			patterns = append(patterns, p)
		}
	}
	least, most := l.least(minLength), l.most(maxLength, math.MaxInt32)
	s := ""
	for try := range 20 {
		switch {
		case len(patterns) > 0:
			s = patterns[m.r.IntN(len(patterns))].generate(m.r, max(1, 6-try/2))
		default:
			var made bool
			if s, made = m.formatted(l.format()); !made {
				s = sized(m.text(), least, most)
			}
		}
		if n := utf8.RuneCountInString(s); n >= least && n <= most && matchAll(patterns, s) {
			break
		}
	}
	return s
}

func matchAll(patterns []*pattern, s string) bool {
	for _, p := range patterns {
		if !p.matches.MatchString(s) {
			return false
		}
	}
	return true
}

// text makes a string that nothing is said about: what converters trip over, and what people write where a schema says no
// more than string.
func (m *maker) text() string {
	switch {
	case m.zero:
		return ""
	case m.huge && m.chance(4) || m.chance(300):
		return strings.Repeat(text(m.r)+".", 1+m.r.IntN(100))
	case m.r.IntN(3) == 0:
		return text(m.r)
	}
	return pick(m.r,
		"a", "b", "name", "some text", "A", "0", "1", "-1", "007", "1.50", "1e3", "80%", "100%", "true", "False", "yes",
		"1", "500m", "1Gi", "1024Mi", "1G", "0.5", "1500m", "1.5Gi", "1h", "90s", "1m30s", "1h0m0s", "500ms", "1.5h", "-5m",
		"2024-02-29T23:59:59Z", "10.0.0.1", "10.0.0.0/8", "example.com", "https://example.com/a?b=c#d", "example.com:443",
		"user@example.com", "0 3 * * *", "*/5 * * * *", "@hourly", "a: 1\nb: [x] # comment\n", "- a\n- b\n",
		`{"a":{"b":[1,2.50]}}`, "[]", "~", "aGVsbG8=", "%zz",
		"a,b,c", "a=b", "a-b-c", "a/b/c", "a.b.c", "a b c", "registry/image:tag@sha256:00", "{host}:{port}", "host:", ":port",
	)
}

// sized makes a string as long as it must be.
func sized(s string, least, most int) string {
	runes := []rune(s)
	if len(runes) > most {
		return string(runes[:most])
	}
	return s + strings.Repeat("x", max(0, least-len(runes)))
}

// integer makes an integer within its limits, near to one of them more often than not.
func (m *maker) integer(l *limits) int64 {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if l.format() == "int32" {
		low, high = math.MinInt32, math.MaxInt32
	}
	lowest, highest, multiple := bounds(l)
	if lowest > float64(low) {
		low = int64(math.Ceil(lowest))
	}
	if highest < float64(high) {
		high = int64(math.Floor(highest))
	}
	candidates := []int64{
		0, 0, 1, 1, 2, 3, 10, 60, 80, 443, 1000, 1024, 3600, -1, 7, 1 << 31, math.MaxInt32, 9007199254740993,
		low, high, low + 1, high - 1,
	}
	n := candidates[m.r.IntN(len(candidates))]
	if m.zero {
		n = 0
	}
	n = min(max(n, low), high)
	if low < high && m.r.IntN(3) == 0 && high-low > 0 {
		n = low + m.r.Int64N(high-low)
	}
	if step := int64(multiple); step > 1 {
		if n -= n % step; n < low {
			n += step
		}
	}
	return n
}

// number makes a number within its limits: an int64 where it is whole.
func (m *maker) number(l *limits) any {
	low, high, multiple := bounds(l)
	candidates := []float64{0, 1, 0.5, 1.5, -2.25, 0.1, 100, 1e21, 1e-7, 3.14159, 12345678.9, low, high}
	n := candidates[m.r.IntN(len(candidates))]
	if m.zero {
		n = 0
	}
	n = min(max(n, low), high)
	if low > -math.MaxFloat64 && high < math.MaxFloat64 && m.r.IntN(3) == 0 {
		n = low + (high-low)*math.Round(m.r.Float64()*1000)/1000
	}
	if multiple > 0 {
		n = math.Mod(n, 1e6*multiple) // such a large one would be no multiple of anything
		if n = math.Floor(n/multiple) * multiple; n < low {
			n += multiple
		}
	}
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return int64(n)
	}
	return n
}

// bounds returns the limits of a number; exclusive ones by moving them.
func bounds(l *limits) (low, high, multiple float64) {
	low, high = -math.MaxFloat64, math.MaxFloat64
	for _, v := range l.all {
		if v.Minimum != nil {
			bound := *v.Minimum
			if v.ExclusiveMinimum {
				bound = above(bound, 1)
			}
			low = max(low, bound)
		}
		if v.Maximum != nil {
			bound := *v.Maximum
			if v.ExclusiveMaximum {
				bound = above(bound, -1)
			}
			high = min(high, bound)
		}
		if v.MultipleOf != nil {
			multiple = max(multiple, *v.MultipleOf)
		}
	}
	return low, high, multiple
}

// above returns a number a little above another, or below it.
func above(n, direction float64) float64 {
	if n == math.Trunc(n) && math.Abs(n) < 1<<40 {
		return n + direction/1024
	}
	return math.Nextafter(n, direction*math.MaxFloat64)
}

func (m *maker) scalar() any {
	switch m.r.IntN(5) {
	case 0:
		return m.r.IntN(2) == 0
	case 1:
		return m.number(&limits{})
	case 2:
		return m.integer(&limits{})
	}
	return m.text()
}

// anything makes any JSON value, of so many levels.
func (m *maker) anything(depth int) any {
	m.budget--
	switch n := m.r.IntN(8); {
	case depth > 0 && n == 0:
		list := make([]any, m.r.IntN(3))
		for i := range list {
			list[i] = m.anything(depth - 1)
		}
		return list
	case depth > 0 && n < 3:
		obj := map[string]any{}
		for range m.r.IntN(3) {
			obj[pick(m.r, "a", "b", "x/y", "name", "")] = m.anything(depth - 1)
		}
		return obj
	case depth > 0 && n == 3:
		return nil
	}
	return m.scalar()
}

// encode writes the object, sometimes with HTML's characters escaped, as the API server does.
func (m *maker) encode(obj map[string]any) []byte {
	text := encode(obj)
	if m.r.IntN(2) == 0 && bytes.ContainsAny(text, "<>&\u2028\u2029") {
		var escaped bytes.Buffer
		json.HTMLEscape(&escaped, text)
		return escaped.Bytes()
	}
	return text
}
