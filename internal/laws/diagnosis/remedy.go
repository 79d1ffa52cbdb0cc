package diagnosis

import (
	"fmt"

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
		return "the compiled-in converter", hold.RowOf(v.Law).Remedy
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

// maxBrief bounds values in messages, in characters.
const maxBrief = 200

// Brief cuts a value that is too long for a message.
func Brief(text string) string {
	if runes := []rune(text); len(runes) > maxBrief {
		return string(runes[:maxBrief]) + "…"
	}
	return text
}
