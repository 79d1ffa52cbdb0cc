package diagnosis

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// Explain returns what makes the difference of a violation, and what to write, in a line each. They
// are empty if nothing is known.
func (c *Rules) Explain(v *hold.ViolationError) (why, remedy string) {
	switch {
	case v.Default != nil:
		why = fmt.Sprintf("%s %s has the default %s, which the API server fills in when it stores the object there",
			v.Default.Version, v.Default.Path, Brief(v.Default.Value))
		return why, fmt.Sprintf("give %s and %s the same default in the CRD", v.Default.Version, v.At)
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
func converterRemedy(v *hold.ViolationError) string {
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

// maxBrief bounds values in messages, in characters.
const maxBrief = 200

// Brief cuts a value that is too long for a message.
func Brief(text string) string {
	if runes := []rune(text); len(runes) > maxBrief {
		return string(runes[:maxBrief]) + "…"
	}
	return text
}
