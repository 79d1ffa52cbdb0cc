package suggest

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// templates are the usual ways to write several values in one text, those with more parts first.
func templates() []string {
	return []string{
		"{minute} {hour} {dayOfMonth} {month} {dayOfWeek}", "{scheme}://{host}:{port}", "{registry}/{repository}:{tag}",
		"{major}.{minor}.{patch}", "{host}:{port}", "{address}:{port}", "{ip}:{port}", "{repository}:{tag}", "{image}:{tag}", "{name}:{tag}",
		"{namespace}/{name}", "{group}/{version}", "{user}:{password}", "{min}-{max}", "{start}-{end}", "{from}-{to}", "{key}={value}",
	}
}

var partOf = regexp.MustCompile(`\{\w+\}`)

// split guesses texts that are several fields in the other version: those of an object at the
// text's own path, else of one next to it, else fields next to it.
func (m *matcher) split() {
	for _, near := range []func(text, field place) bool{
		func(text, field place) bool { return field.outer() == text.String() },
		func(text, field place) bool { return field.up().outer() == text.outer() },
		func(text, field place) bool { return field.outer() == text.outer() },
	} {
		for side := range m.open {
			groups := m.groups(1 - side)
			for _, text := range m.spread(side) {
				for _, fields := range groups {
					if text.node.Kind() == crdschema.String && near(text, fields[0]) {
						m.fill(side, text, fields)
					}
				}
			}
		}
	}
}

// groups returns the open values of each object, the innermost first.
func (m *matcher) groups(side int) [][]place {
	all := map[string][]place{}
	for _, p := range m.spread(side) {
		if kind := p.node.Kind(); kind == crdschema.String || kind == crdschema.Integer {
			all[p.outer()] = append(all[p.outer()], p)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b []place) int {
		return cmp.Or(len(b[0].path)-len(a[0].path), strings.Compare(a[0].String(), b[0].String()))
	})
}

// fill takes the guess that a text has fields as its parts, if a template has them and they are all
// fields of an object with a word of the text, their names make that of the text (host and port of
// hostPort) or begin with it (imageTag of image), or they are too many to be there by chance.
func (m *matcher) fill(side int, text place, fields []place) {
	words := text.nameWords()
	for _, template := range templates() {
		names := partOf.FindAllString(template, -1)
		var parts, spelled []string
		prefixed, left := true, slices.Clone(fields)
		for _, name := range names {
			i := slices.IndexFunc(left, func(p place) bool { return isPart(p, words, strings.ToLower(strings.Trim(name, "{}"))) })
			if i < 0 || m.taken[1-side][left[i].String()] {
				break
			}
			parts, spelled = append(parts, left[i].String()), append(spelled, left[i].nameWords()...)
			prefixed = prefixed && contains(left[i].nameWords(), words)
			template = strings.Replace(template, name, "{"+left[i].name()+"}", 1)
			left = slices.Delete(left, i, i+1)
		}
		object := slices.Concat(fields[0].words[max(0, len(fields[0].words)-2) : len(fields[0].words)-1]...)
		all := len(left) == 0 && didyoumean.Similarity(object, words) > 0
		if len(parts) < len(names) || m.taken[side][text.String()] ||
			!all && !prefixed && len(names) <= byChance && didyoumean.Similarity(spelled, words) < 1 {
			continue
		}
		g := guess{keys: `template: "` + template + `"`, reason: "a text and its parts", sure: true}
		if strings.Contains(template, "} {") {
			g.keys += `, absent: "*"`
		}
		g.ends[side], g.ends[1-side] = []string{text.String()}, parts
		for s, ends := range g.ends {
			for _, path := range ends {
				m.taken[s][path] = true
			}
		}
		m.guesses = append(m.guesses, g)
	}
}

// isPart reports whether a field is the part of a template by its name, without the words that the
// text has as well: imageTag of image is tag, and dow is dayOfWeek.
func isPart(p place, text []string, part string) bool {
	own := slices.DeleteFunc(slices.Clone(p.nameWords()), func(w string) bool { return slices.Contains(text, w) && w != part })
	name := strings.Join(own, "")
	return name == part || strings.Join(p.nameWords(), "") == part || didyoumean.ShortFor(name, part)
}
