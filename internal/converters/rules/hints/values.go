package hints

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// Values are JSON texts to try, by version and by path as rules write it. A path without values is
// one that should sometimes be there: the x of [name=x], or an annotation.
type Values map[string]map[string][]string

// deepest bounds how far rule sets are followed into each other: two levels of a recursive type are
// enough.
const deepest = 3

// Of returns the values of a Conversion. They may not fit the schemas of their places, which are
// not known here.
func Of(c *syntax.Conversion) Values {
	v := Values{}
	for _, version := range c.Versions {
		w := walk{values: v, versions: [2]string{version.Name, c.Hub}}
		w.rules(version.Rules, [2]string{}, 0)
	}
	for _, paths := range v {
		for path, texts := range paths {
			paths[path] = slices.Compact(slices.Sorted(slices.Values(texts)))
		}
	}
	return v
}

// Sides of a rule.
const (
	ofField = iota
	ofHub
)

type walk struct {
	values   Values
	versions [2]string
}

// rules goes through rules whose paths are below two places.
func (w *walk) rules(rules []*syntax.Rule, below [2]string, depth int) {
	for _, r := range rules {
		if r.Broken {
			continue
		}
		w.rule(r, below)
		if r.Uses == nil || r.Spoke == nil || r.Hub == nil || depth == deepest {
			continue
		}
		next := [2]string{below[ofField] + r.Spoke.Paths[0].Path.String(), below[ofHub] + r.Hub.Paths[0].Path.String()}
		w.rules(r.Uses.Rules, next, depth+1)
	}
}

// rule adds what a rule says of its places.
func (w *walk) rule(r *syntax.Rule, below [2]string) {
	literals, first := literalsOf(r), mappings(r)
	if r.Codec != nil {
		first = append(first, codecTexts(r.Codec.Value)...)
	}
	for side, place := range [2]*syntax.Place{r.Spoke, r.Hub} {
		if place == nil {
			continue
		}
		for _, named := range place.Paths {
			path := below[side] + named.Path.String()
			w.add(side, path, literals)
			w.add(side, path, fallback([2]*syntax.Literal{r.DefaultInSpoke, r.DefaultInHub}[side], place, named.Name))
		}
		w.add(side, below[side]+place.Paths[0].Path.String(), first)
		for path, texts := range objectPaths(r) {
			w.add(side, path, texts)
		}
	}
	w.template(r, below)
}

func (w *walk) add(side int, path string, texts []string) {
	paths := w.values[w.versions[side]]
	if paths == nil {
		paths = map[string][]string{}
		w.values[w.versions[side]] = paths
	}
	paths[path] = append(paths[path], texts...)
}

// mappings returns the values of `values` and `hubValues` of both sides, and texts that nearly
// match them.
func mappings(r *syntax.Rule) (texts []string) {
	for _, m := range slices.Concat(r.Values, r.HubValues) {
		for _, value := range []syntax.Scalar{m.From, m.To} {
			var s string
			if texts = append(texts, string(value.JSON)); json.Unmarshal(value.JSON, &s) == nil {
				texts = append(texts, quoted(s+"x", strings.ToLower(s), strings.ToUpper(s), s+" ")...)
			}
		}
	}
	return texts
}

// fallback returns the default of a path.
func fallback(l *syntax.Literal, place *syntax.Place, name string) []string {
	if place.Named {
		l = l.Member(name)
	}
	if l == nil {
		return nil
	}
	return []string{string(l.JSON)}
}

// template adds texts that match or nearly match a template, and parts with its separators in them.
func (w *walk) template(r *syntax.Rule, below [2]string) {
	if r.Template == nil || r.Spoke == nil || r.Hub == nil {
		return
	}
	whole, parts := ofField, ofHub
	if r.Spoke.Named {
		whole, parts = ofHub, ofField
	}
	places := [2]*syntax.Place{r.Spoke, r.Hub}
	absent := ""
	if r.Absent != nil {
		absent = r.Absent.Value
	}
	texts, pieces := templateTexts(r.Template.Value, absent)
	w.add(whole, below[whole]+places[whole].Paths[0].Path.String(), quoted(texts...))
	for _, named := range places[parts].Paths {
		w.add(parts, below[parts]+named.Path.String(), quoted(pieces...))
	}
}

// templateTexts returns texts for the string of a template, and others for its parts.
func templateTexts(template, absent string) (texts, pieces []string) {
	part := regexp.MustCompile(`\{[^{}]*\}`)
	separators := part.Split(template, -1)
	fill := func(values ...string) string {
		i := -1
		return part.ReplaceAllStringFunc(template, func(string) string {
			i++
			return values[i%len(values)]
		})
	}
	pieces = append(make([]string, 0, 7+3*len(separators)), "", "a", "0", "01", " b ", absent, absent+absent)
	for _, s := range separators {
		pieces = append(pieces, s, "a"+s+"b", s+"a")
	}
	for _, p := range pieces {
		texts = append(texts, fill(p), fill("a", p), fill(p, "b"), fill("5", p))
	}
	full := fill("a", "b", "7")
	texts = append(texts, full+separators[len(separators)-1], separators[0]+full, full+"x", "x"+full, full+"\n", "@daily")
	for _, s := range separators {
		if s != "" {
			texts = append(texts, strings.Replace(full, s, "", 1), strings.Replace(full, s, s+s, 1), strings.ReplaceAll(full, s, " "))
		}
	}
	return texts, pieces
}

func quoted(texts ...string) []string {
	all := make([]string, 0, len(texts))
	for _, text := range texts {
		encoded, err := json.Marshal(text)
		if err == nil {
			all = append(all, string(encoded))
		}
	}
	return all
}

// codecTexts returns texts that a codec accepts on either side, and ones that it does not.
func codecTexts(codec string) []string {
	byCodec := map[string][]string{
		"String": append(quoted("5", "05", "-5", "+5", "-0", "0", " 5", "5 ", "1e3", "5.0", "0x10", "9223372036854775807", "9223372036854775808", "five", "",
			"1.5", "1.50", "1e3", "1E3", ".5", "5.", "-0", "NaN", "1_000", "0.1", "", "many",
			"true", "false", "True", "TRUE", "yes", "1", "0", "t", ""), "0", "-5", "5", "9223372036854775807", "1.5", "-1", "1000", "0.1", "true", "false"),
		"DurationNanoseconds": append(quoted("90s", "1.5s", "1d12h", "1ns", "2562047h47m16.854775807s", ""), "90", "0", "-1", "9223372036854775807"),
		"DurationSeconds":     append(quoted("90s", "1m30s", "1.5s", "1h0m0s", "1h", "0s", "0", "-1m0s", "-90s", "1500ms", "90", "1d", "2562048h", ""), "90", "0", "-60", "3600", "9223372037"),
		"QuantityInt":         append(quoted("1k", "1000", "1Ki", "1024", "0.5", "100m", "1e3", "-1", "0", "2Gi", "1.0", "9223372036854775807", "10E", "much", ""), "1000", "0", "-1", "1024", "9223372036854775807"),
		"JSON": append(quoted(`{"a":1}`, `{ "a": 1.0 }`, `{"b":2,"a":1}`, `{"a":1,"a":2}`, `[1,2]`, `"x"`, `null`, `{`, ``, `1`, `true x`), `{}`,
			`{"a":1}`, `[]`),
		"YAML": append(quoted("a: 1", "a: 1\n", "# why\na: 1\n", "b: 2\na: 1\n", "a: {b: 1}", "a: &x 1\nb: *x\n", "- 1\n- 2\n", "null", "yes", "a: 1.0\n", "---\na: 1\n---\nb: 2\n", "{", "", "a:\n  - b\n"),
			`{}`, `{"a":1}`, `[]`),
		"Base64": quoted("aGk=", "aGk", "aGl=", "", "====", "a_-b", "hi", "ä", "aGk=\n", "\u0000"),
	}
	return byCodec[codec]
}

// literalsOf returns the strings in a rule's expressions, and others that contain them.
func literalsOf(r *syntax.Rule) []string {
	var texts []string
	for _, text := range []*syntax.Text{r.ToHub, r.ToSpoke, r.WhenToHub, r.WhenToSpoke} {
		for _, s := range stringsIn(text) {
			texts = append(texts, s, s+"x", "5"+s, "05"+s, "-5"+s, "5.0"+s, "a"+s+"b", s+s, "")
		}
	}
	return quoted(texts...)
}

// objectPaths returns the fields of the whole object that expressions read, with the strings of the
// same expression.
func objectPaths(r *syntax.Rule) map[string][]string {
	field := regexp.MustCompile(`\bobject((?:\.[A-Za-z_][A-Za-z0-9_]*)+)(\()?`)
	paths := map[string][]string{}
	for _, text := range []*syntax.Text{r.ToHub, r.ToSpoke, r.WhenToHub, r.WhenToSpoke} {
		if text == nil {
			continue
		}
		for _, found := range field.FindAllStringSubmatch(text.Value, -1) {
			path := found[1]
			if found[2] != "" {
				path = path[:strings.LastIndexByte(path, '.')]
			}
			if path != "" && !strings.HasPrefix(path, ".metadata") {
				paths[path] = append(paths[path], quoted(stringsIn(text)...)...)
			}
		}
	}
	return paths
}

// stringsIn returns the string literals of an expression that have no escapes.
func stringsIn(text *syntax.Text) []string {
	if text == nil {
		return nil
	}
	var found []string
	for _, match := range regexp.MustCompile(`"([^"\\\n]*)"|'([^'\\\n]*)'`).FindAllStringSubmatch(text.Value, -1) {
		found = append(found, match[1]+match[2])
	}
	return found
}
