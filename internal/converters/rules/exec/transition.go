package exec

import (
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// marked returns entries with the mark of the rules. Some replicas may know only earlier rules, so
// there are also the entries that those need to convert y back to x.
func (v *conversion) marked(entries []*annotation.Entry) ([]*annotation.Entry, error) {
	mark := annotation.Mark{Rules: v.of.Rules, Kept: entries}
	earlier := v.of.Earlier
	if earlier == nil || earlier.directions[[2]string{v.From, v.To}] == nil {
		return mark.Entries(nil), nil
	}
	w := *v
	w.direction = earlier.directions[[2]string{v.From, v.To}]
	needed, err := w.lost(converted{})
	if err != nil || annotation.SameEntries(needed, entries) {
		return mark.Entries(nil), err
	}
	mark.For = earlier.Rules
	err = keep.Seal(needed, v.obj, v.target.layout.Schema)
	return mark.Entries(needed), err
}
