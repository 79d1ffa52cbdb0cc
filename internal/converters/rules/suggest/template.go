package suggest

import (
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
// text's own path or next to it, or fields next to it.
func (r *region) split() {
	for side := range r.open {
		objects := map[string][]place{} // the values in each
		for _, p := range r.spread(1 - side) {
			if kind := p.node.Kind(); kind == crdschema.String || kind == crdschema.Integer {
				objects[strings.Join(p.outer(), ".")] = append(objects[strings.Join(p.outer(), ".")], p)
			}
		}
		for _, text := range r.spread(side) {
			for _, path := range slices.Sorted(maps.Keys(objects)) {
				object := place{names: objects[path][0].outer()}
				near := slices.Equal(object.outer(), text.outer()) || slices.Equal(object.names, text.outer())
				if text.node.Kind() == crdschema.String && near && r.fill(side, text, object, objects[path]) {
					delete(objects, path)
					break
				}
			}
		}
	}
}

// fill guesses that a text has fields of an object as its parts, if a template has them and they
// are all its fields and its name has a word of the text, their names make that of the text (host
// and port of hostPort) or begin with it (imageTag of image), or they are those of cron.
func (r *region) fill(side int, text, object place, fields []place) bool {
	words := text.words()
	for _, template := range templates() {
		g := guess{keys: template, reason: "a text and its parts", sure: r.sure}
		g.ends[side] = []string{text.path}
		var parts []place
		var spelled []string
		prefixed := true
		for _, name := range partOf.FindAllString(template, -1) {
			i := slices.IndexFunc(fields, func(p place) bool {
				return !slices.ContainsFunc(parts, p.in) && isPart(p, words, strings.ToLower(strings.Trim(name, "{}")))
			})
			if i < 0 {
				parts = nil
				break
			}
			p := fields[i]
			parts, spelled = append(parts, p), append(spelled, p.words()...)
			prefixed = prefixed && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(p.words(), w) })
			g.keys = strings.Replace(g.keys, name, "{"+p.name()+"}", 1)
			g.ends[1-side] = append(g.ends[1-side], p.path)
		}
		cron := strings.Contains(template, "} {")
		all := len(parts) == len(fields) && didyoumean.Similarity(object.words(), words) > 0
		if len(parts) == 0 || !all && !prefixed && !cron && didyoumean.Similarity(spelled, words) < 1 {
			continue
		}
		if g.keys = `template: "` + g.keys + `"`; cron {
			g.keys += `, absent: "*"`
		}
		r.taken[side], r.taken[1-side] = append(r.taken[side], text), append(r.taken[1-side], parts...)
		r.guesses = append(r.guesses, g)
		return true
	}
	return false
}

// isPart reports whether a field is the part of a template by its name, without the words that the
// text has as well: imageTag of image is tag, and dow is dayOfWeek.
func isPart(p place, text []string, part string) bool {
	own := slices.DeleteFunc(slices.Clone(p.words()), func(w string) bool { return slices.Contains(text, w) && w != part })
	return strings.Join(own, "") == part || strings.Join(p.words(), "") == part || didyoumean.ShortFor(strings.Join(own, ""), part)
}
