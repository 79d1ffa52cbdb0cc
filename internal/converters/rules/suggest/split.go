package suggest

import (
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

var partOf = regexp.MustCompile(`\{(\w+)\}`)

// split guesses texts that are several fields in the other version: those of an object at the
// text's own path or next to it, or fields next to it.
func (r *region) split() {
	for side := range r.open {
		left := map[string]bool{} // the values that may be parts
		for _, p := range r.open[1-side] {
			left[p.path] = p.node.Kind() == crdschema.String || p.node.Kind() == crdschema.Integer
		}
		for _, text := range r.open[side] {
			around := r.root[1-side].at(text.outer())
			for _, object := range append(around.fields(), around) {
				fields := slices.DeleteFunc(object.fields(), func(f place) bool { return !left[f.path] })
				template, parts := parts(text, fields)
				if text.node.Kind() != crdschema.String || parts == nil {
					continue
				}
				g := guess{keys: template, reason: "a text and its parts", sure: r.sure}
				g.ends[side] = []string{text.path}
				for _, p := range parts {
					left[p.path], g.ends[1-side] = false, append(g.ends[1-side], p.path)
				}
				r.taken[side], r.taken[1-side] = append(r.taken[side], text), append(r.taken[1-side], parts...)
				r.guesses = append(r.guesses, g)
				break
			}
		}
	}
}

// parts returns the fields that are the parts of a text, and the keys of the rule: there is a
// template for them, and it is that of cron, or their names make that of the text (host and port of
// hostPort), or each has it (imageTag and image.tag of image).
func parts(text place, fields []place) (keys string, parts []place) {
	words := text.words()
	for _, template := range templates() {
		keys, parts = `template: "`+template+`"`, nil
		cron := strings.Contains(template, "} {")
		if cron {
			keys += `, absent: "*"`
		}
		each, spelled, names := true, []string{}, partOf.FindAllStringSubmatch(template, -1)
		for _, name := range names {
			i := slices.IndexFunc(fields, func(p place) bool { // imageTag of image is tag, and dow is dayOfWeek
				own := slices.DeleteFunc(p.words(), func(w string) bool { return slices.Contains(words, w) && w != name[1] })
				return !slices.ContainsFunc(parts, p.in) && didyoumean.ShortFor(strings.Join(own, ""), strings.ToLower(name[1]))
			})
			if i < 0 {
				break
			}
			p := fields[i]
			within := didyoumean.Words(strings.Join(p.names[len(text.outer()):], "."))
			each = each && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(within, w) })
			parts, spelled = append(parts, p), append(spelled, p.words()...)
			keys = strings.Replace(keys, name[0], "{"+p.name()+"}", 1)
		}
		if len(parts) == len(names) && (cron || each || didyoumean.Similarity(spelled, words) == 1) {
			return keys, parts
		}
	}
	return "", nil
}
