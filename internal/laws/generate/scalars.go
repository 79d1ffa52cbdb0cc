package generate

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// str makes a string.
func (m *builder) str(l *limits) string {
	patterns := m.patternsOf(l)
	least, most := l.size(length, math.MaxInt32)
	examples := examplesOf(l.format())
	s := ""
	for try := range 20 {
		switch {
		case len(patterns) > 0:
			s = patterns[m.r.IntN(len(patterns))].generate(m.r, max(1, 6-try/2))
		case len(examples) > 0:
			s = Pick(m.r, examples...)
			if strings.HasPrefix(s, "^") {
				s = m.pattern(s).generate(m.r, 4)
			}
		default:
			runes := []rune(m.text())
			s = string(runes[:min(len(runes), most)]) + strings.Repeat("x", max(0, least-len(runes)))
		}
		if m.takes(l, s) {
			break
		}
	}
	return s
}

// takes reports whether the limits allow a string, as far as its length and its patterns are
// concerned.
func (g *Generator) takes(l *limits, s string) bool {
	least, most := l.size(length, math.MaxInt32)
	n := utf8.RuneCountInString(s)
	return n >= least && n <= most && !slices.ContainsFunc(g.patternsOf(l), func(p *pattern) bool { return !p.matches.MatchString(s) })
}

// text makes a string that no limit applies to: what converters trip over, and what people write
// where a schema only says string.
func (m *builder) text() string {
	switch {
	case m.zero:
		return ""
	case m.huge && m.chance(4) || m.chance(300):
		return strings.Repeat(Text(m.r)+".", 1+m.r.IntN(100))
	case m.chance(3):
		return Text(m.r)
	}
	return Pick(m.r,
		"a", "b", "name", "some text", "A", "0", "1", "-1", "007", "1.50", "1e3", "80%", "100%", "true", "False", "yes",
		"1", "500m", "1Gi", "1024Mi", "1G", "0.5", "1500m", "1.5Gi", "1h", "90s", "1m30s", "1h0m0s", "500ms", "1.5h", "-5m",
		"2024-02-29T23:59:59Z", "10.0.0.1", "10.0.0.0/8", "example.com", "https://example.com/a?b=c#d", "example.com:443",
		"user@example.com", "0 3 * * *", "*/5 * * * *", "@hourly", "a: 1\nb: [x] # comment\n", "- a\n- b\n",
		`{"a":{"b":[1,2.50]}}`, "[]", "~", "aGVsbG8=", "%zz",
		"a,b,c", "a=b", "a-b-c", "a/b/c", "a.b.c", "a b c", "registry/image:tag@sha256:00", "{host}:{port}", "host:", ":port",
	)
}

// examplesOf returns strings of a format that the API server checks, and patterns of such strings,
// which start with ^. It returns nil for other formats. The formats are those of
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go, and dashes in their names do
// not count.
func examplesOf(format string) []string {
	if format == "" {
		return nil
	}
	const (
		date  = `^(19[7-9]|20[0-9])[0-9]-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])`
		clock = `T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]`
		ipv4  = `^(25[0-5]|1?[1-9]?[0-9])(\.(25[0-5]|1?[1-9]?[0-9])){3}`
		uuid4 = `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`
	)
	return map[string][]string{
		"datetime":     {"2024-02-29T23:59:59Z", date + clock + "Z", date + clock + `\.[0-9]{3}Z`, date + clock + `(\.[0-9]{9})?[+-](0[0-9]|1[0-2]):[0-5]0`},
		"date":         {"2024-02-29", date},
		"duration":     {"0s", "1s", "90s", "1m30s", "1h0m0s", "500ms", "1.5h", "1h", "-1m", "100us", "24h", "22 ns", "3 days", "1 hour"},
		"byte":         {"", "aGk=", "AA==", `^([A-Za-z0-9+/]{4})+`},
		"uuid":         {uuid4},
		"uuid3":        {strings.Replace(uuid4, "-4", "-3", 1)},
		"uuid4":        {uuid4},
		"uuid5":        {strings.Replace(uuid4, "-4", "-5", 1)},
		"ip":           {ipv4},
		"ipv4":         {ipv4},
		"ipv6":         {"::1", "::", "2001:db8::8a2e:370:7334", "fe80::1", "2001:0db8:0000:0000:0000:0000:0000:0001"},
		"cidr":         {"10.0.0.0/8", "192.168.1.0/24", "10.1.2.3/32", "2001:db8::/32", "0.0.0.0/0"},
		"mac":          {"^02:00:00(:[0-9a-f]{2}){3}"},
		"uri":          {"https://example.com/a?b=c#d", "http://localhost:8080", "urn:a:b", "ftp://user:pw@host/x", "/path", "https://[::1]:443/"},
		"email":        {"user@example.com", "a.b+c@d.example", "Some One <user@example.com>"},
		"hostname":     {"example.com", "a", "a-b.example.com", "localhost"},
		"k8sshortname": {"a", "a-b", "web-0", "x1"},
		"k8slongname":  {"a", "a.b", "a-b.example.com", "web-0.c"},
		"hexcolor":     {"#FFFFFF", "#000", "fff", "00ff7f"},
		"rgbcolor":     {"rgb(255,255,255)", "rgb(0,0,0)", "rgb(1, 2, 3)"},
		"bsonobjectid": {"507f1f77bcf86cd799439011", "000000000000000000000000"},
		"isbn":         {"0321751043", "978-0321751041"},
		"isbn10":       {"0321751043"},
		"isbn13":       {"978-0321751041"},
		"creditcard":   {"4111111111111111", "4111-1111-1111-1111"},
		"ssn":          {"111-22-3333", "111 22 3333"},
	}[strings.ReplaceAll(format, "-", "")]
}

// integer makes an integer within its limits, more often than not near one of them.
func (m *builder) integer(l *limits, format string) int64 {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch {
	case format == "int32":
		low, high = math.MinInt32, math.MaxInt32
	case m.Small:
		low, high = 2-Large, Large-2
	}
	lowest, highest, multiple := bounds(l)
	if lowest > float64(low) {
		low = int64(math.Ceil(lowest))
	}
	if highest < float64(high) {
		high = int64(math.Floor(highest))
	}
	high = max(low, high)
	candidates := []int64{
		0, 0, 1, 1, 2, 3, 10, 60, 80, 443, 1000, 1024, 3600, -1, 7, 1 << 31, math.MaxInt32, Large,
		low, high, low + 1, high - 1,
	}
	n := candidates[m.r.IntN(len(candidates))]
	if m.zero {
		n = 0
	}
	n = min(max(n, low), high)
	if low < high && m.chance(3) && high-low > 0 {
		n = low + m.r.Int64N(high-low)
	}
	if step := int64(multiple); step > 1 {
		if n -= n % step; n < low {
			n += step
		}
	}
	return n
}

// number makes a number within its limits: an int64 if it is whole.
func (m *builder) number(l *limits) any {
	low, high, multiple := bounds(l)
	candidates := []float64{0, 1, 0.5, 1.5, -2.25, 0.1, 100, 1e21, 1e-7, 3.14159, 12345678.9, low, high}
	n := candidates[m.r.IntN(len(candidates))]
	if m.zero {
		n = 0
	}
	n = min(max(n, low), high)
	if low > -math.MaxFloat64 && high < math.MaxFloat64 && m.chance(3) {
		n = min(low+(high-low)*math.Round(m.r.Float64()*1000)/1000, high)
	}
	if multiple > 0 {
		n = math.Mod(n, 1e6*multiple) // a larger one would not be a multiple of anything
		if n = math.Floor(n/multiple) * multiple; n < low {
			n += multiple
		}
	}
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return int64(n)
	}
	return n
}

// bounds returns the limits of a number. Exclusive ones are moved.
func bounds(l *limits) (low, high, multiple float64) {
	low, high = -math.MaxFloat64, math.MaxFloat64
	for _, v := range l.all {
		if v.Minimum != nil {
			bound := *v.Minimum
			if v.ExclusiveMinimum {
				bound = math.Nextafter(bound, math.MaxFloat64)
			}
			low = max(low, bound)
		}
		if v.Maximum != nil {
			bound := *v.Maximum
			if v.ExclusiveMaximum {
				bound = math.Nextafter(bound, -math.MaxFloat64)
			}
			high = min(high, bound)
		}
		if v.MultipleOf != nil {
			multiple = max(multiple, *v.MultipleOf)
		}
	}
	return low, high, multiple
}

// anything makes any JSON value, of at most some levels.
func (m *builder) anything(depth int) any {
	m.budget--
	n := m.r.IntN(8)
	switch {
	case depth > 0 && n == 0:
		list := make([]any, m.r.IntN(3))
		for i := range list {
			list[i] = m.anything(depth - 1)
		}
		return list
	case depth > 0 && n < 3:
		obj := map[string]any{}
		for range m.r.IntN(3) {
			obj[Pick(m.r, "a", "b", "x/y", "name", "")] = m.anything(depth - 1)
		}
		return obj
	case depth > 0 && n == 3:
		return nil
	}
	switch m.r.IntN(5) {
	case 0:
		return m.chance(2)
	case 1:
		return m.number(&limits{})
	case 2:
		return m.integer(&limits{}, "")
	}
	return m.text()
}
