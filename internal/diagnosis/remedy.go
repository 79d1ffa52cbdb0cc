package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// Explain returns what makes the difference of a violation, and what to write, in a line each. They
// are empty if nothing is known.
func (c *Rules) Explain(v *roundtrip.ViolationError) (why, remedy string) {
	switch {
	case v.Default != nil:
		why = fmt.Sprintf("%s %s has the default %s, which the API server fills in when it stores the object there",
			v.Default.Version, v.Default.Path, Brief(v.Default.Value))
		return why, c.defaultRemedy(v)
	case c.Conversion == nil:
		return "the compiled-in converter", converterRemedy(v)
	case v.Path == "":
		return "", ""
	}
	other := v.From
	if other == v.At {
		other = v.To
	}
	atom, to := c.Nearest(v.At, other, v.Path)
	remedy = "rules alone cannot break a law: report this output, the rules and the CRD as a bug of webhookd"
	if r := c.RuleOf(&atom, v.At, to); r != nil && r.Go != nil {
		remedy = fmt.Sprintf("correct the function %s: the way back must give what it was given", r.Go.Value)
	}
	return c.describe(&atom, v.At, to), remedy
}

// converterRemedy says what the author of a converter in Go can do about a law.
func converterRemedy(v *roundtrip.ViolationError) string {
	law, _, _ := strings.Cut(v.Law, " ")
	return map[string]string{
		"L1":       "wrap the converter in conversion.Lossless, which keeps what it loses",
		"L2":       "wrap the converter in conversion.Lossless, which lets edits win over kept values",
		"L3":       "read only annotations that keep values of the target version, and leave those of other versions",
		"L4":       "convert between two spokes by way of the hub",
		"L5":       "return the object as it is if both versions are the same",
		"L6":       "write only fields that the schema of the target version has, or add the field to it",
		"L7":       "expect that any part of the object is absent, null or new",
		"L8":       "use no clock, no random numbers and no order of maps",
		"L10":      "wrap the converter in conversion.Lossless, which restores only what was not edited",
		"L13":      "check kept values against the schema before they are restored, as conversion.Lossless does",
		"metadata": "change nothing in metadata but labels and annotations, and only to values that are valid there",
		"source":   "convert a copy of the text",
	}[law]
}

// defaultRemedy says how the rules can undo a default that only one version has.
func (c *Rules) defaultRemedy(v *roundtrip.ViolationError) string {
	schemas := fmt.Sprintf("give %s and %s the same default in the CRD", v.Default.Version, v.At)
	if c.Conversion == nil {
		return schemas
	}
	atom, to := c.Nearest(v.Default.Version, v.At, v.Default.Path)
	if rule := c.withDefault(&atom, v.Default, to); rule != "" {
		return rule + ", or " + schemas
	}
	return schemas
}

// withDefault returns the rule to add or to change. It returns "" if another rule converts the
// place as a part of something else.
func (c *Rules) withDefault(atom *check.Atom, d *roundtrip.Default, to string) string {
	hub := d.Version == c.Conversion.Hub
	r, path := c.RuleOf(atom, d.Version, to), AnyElement(d.Path)
	if r != nil && names(sideOf(r, hub), path) {
		if r.DefaultFrom != nil {
			return ""
		}
		return fmt.Sprintf("write defaultFrom: schema into %s: %s", r.Pos, r)
	}
	if atom.Path != path || atom.Class != check.Copied && atom.Class != check.Mapped {
		return ""
	}
	spoke, atHub := path, path
	if r != nil || atom.Rule != "" {
		below, found := below(r, hub, path)
		if !found {
			return ""
		}
		spoke, atHub = r.Spoke.Paths[0].Path.Text+below, r.Hub.Paths[0].Path.Text+below
	}
	return fmt.Sprintf("add the rule {spoke: %s, hub: %s, defaultFrom: schema}", syntax.Quoted(spoke), syntax.Quoted(atHub))
}

// sideOf returns the place of a rule in the hub or in the spoke, nil if it has none.
func sideOf(r *syntax.Rule, hub bool) *syntax.Place {
	if hub {
		return r.Hub
	}
	return r.Spoke
}

// below returns the rest of a path below a rule's place, in the hub or in the spoke. More rules may
// follow there only if the rule is a pair that leaves the rest to them.
func below(r *syntax.Rule, hub bool, path string) (rest string, found bool) {
	if r == nil || r.Set != "" || r.Spoke == nil || r.Hub == nil || r.Spoke.Named || r.Hub.Named || r.Values != nil || r.HubValues != nil ||
		cmp.Or(r.Template, r.Codec, r.ToHub, r.ToSpoke, r.Go) != nil {
		return "", false
	}
	whole, err := syntax.ParsePath(path)
	from := len(sideOf(r, hub).Paths[0].Path.Segments)
	if err != nil || from >= len(whole.Segments) {
		return "", false
	}
	return textOf(whole.Segments[from:]), true
}

func textOf(segments []syntax.Segment) string {
	var text strings.Builder
	for _, s := range segments {
		text.WriteString(s.String())
	}
	return text.String()
}

// names reports whether a path ends with one of a rule's place: paths of rule sets begin further
// down.
func names(place *syntax.Place, path string) bool {
	whole, err := syntax.ParsePath(path)
	if place == nil || err != nil {
		return false
	}
	return slices.ContainsFunc(place.Paths, func(p syntax.NamedPath) bool {
		from := len(whole.Segments) - len(p.Path.Segments)
		return from >= 0 && above(p.Path.Text, textOf(whole.Segments[from:]))
	})
}

// maxBrief bounds values in messages, in characters.
const maxBrief = 200

// Brief cuts a value that is too long for a message.
func Brief(text string) string {
	if runes := []rune(text); len(runes) > maxBrief {
		return string(runes[:maxBrief]) + "…"
	}
	return text
}
