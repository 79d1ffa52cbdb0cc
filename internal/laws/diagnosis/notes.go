package diagnosis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// maxCauses is how many causes a note lists.
const maxCauses = 5

// Notes says what the laws leave open: what kept fuzz from making objects, and valid objects that
// become invalid ones.
func (c *Rules) Notes(s *hold.Stats) string {
	var out strings.Builder
	for _, short := range s.Shortfalls {
		writeShortfall(&out, &short)
	}
	for _, r := range s.Rejections {
		fmt.Fprintf(&out, "note: %d of %s of %s are not valid in %s\n", r.Objects, count(r.All, "valid object"), r.From, r.To)
		writeCauses(&out, r.Causes, func(cause generate.Refusal) string { return c.rejection(&r, &cause) })
	}
	return out.String()
}

func writeShortfall(out *strings.Builder, s *generate.Shortfall) {
	if s.Missed > 0 {
		fmt.Fprintf(out, "note: %d of %s of %s could not be made\n", s.Missed, count(s.Asked, "object"), s.Version)
		writeCauses(out, s.Causes, func(generate.Refusal) string { return "" })
	}
	if len(s.Never) > 0 && s.Missed < s.Asked { // else no object has anything
		fmt.Fprintf(out, "note: no object of %s has these fields, every value that was tried is invalid\n", s.Version)
		writeCauses(out, s.Never, func(generate.Refusal) string { return "" })
	}
	if s.Few() {
		fmt.Fprintf(out, "note: only %d of the %s of %s are different apart from their metadata, the schema allows few\n",
			s.Different, count(s.Asked-s.Missed, "object"), s.Version)
	}
}

// writeCauses lists the most frequent causes, with more to say about each.
func writeCauses(out *strings.Builder, causes []generate.Refusal, more func(generate.Refusal) string) {
	for i, r := range causes {
		if i == maxCauses {
			fmt.Fprintf(out, "  and %d more\n", len(causes)-i)
			return
		}
		fmt.Fprintf(out, "  %s: %s (%s%s)\n", r.Path, r.Reason, count(r.Objects, "object"), more(r))
	}
}

// rejection says what the rules do at a refused place.
func (c *Rules) rejection(r *hold.Rejection, refusal *generate.Refusal) string {
	atom, to := c.Nearest(r.To, r.From, refusal.Path)
	switch rule := c.RuleOf(&atom, r.To, to); {
	case rule != nil:
		return fmt.Sprintf(", %s: %s", rule.Pos, rule)
	case atom.Path != "":
		return ", " + cmp.Or(atom.Rule, string(atom.Class))
	case c.Conversion != nil:
		return ", no rule"
	}
	return ""
}

func count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
