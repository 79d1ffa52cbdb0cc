// Package window is a function for `go:` in conversion rules, and a model to copy. It converts a
// maintenance window between one text, "Mon-Fri 02:00", and a list of days with a start.
package window

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// errForm means that a value is kept, not converted. A function's error is never shown.
var errForm = errors.New("not a window")

// Function converts between one path, the text, and two at the hub, the days and the start.
//
// It need not be lossless: the rules keep values that it cannot convert, or would return in another
// form.
func Function() transform.GoFunc {
	return transform.GoFunc{ToHub: split, ToSpoke: join}
}

func split(_ context.Context, in []transform.Operand) ([]transform.Operand, error) {
	out := make([]transform.Operand, 2)
	if !in[0].Present {
		return out, nil
	}
	var text string
	if err := json.Unmarshal(in[0].Value.Text(), &text); err != nil {
		return nil, errForm
	}
	days, start, found := strings.Cut(text, " ")
	list, err := daysOf(days)
	if err != nil || !found {
		return nil, errForm
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	value, err := jsondoc.RawValue(encoded)
	if err != nil {
		return nil, err
	}
	out[0] = transform.Operand{Value: value, Present: true}
	out[1] = transform.Operand{Value: jsondoc.StringValue(start), Present: true}
	return out, nil
}

func join(_ context.Context, in []transform.Operand) ([]transform.Operand, error) {
	out := make([]transform.Operand, 1)
	if !in[0].Present && !in[1].Present {
		return out, nil
	}
	var days []string
	var start string
	if !in[0].Present || !in[1].Present || // a fragment: the text cannot express half of it
		json.Unmarshal(in[0].Value.Text(), &days) != nil || json.Unmarshal(in[1].Value.Text(), &start) != nil || len(days) == 0 {
		return nil, errForm
	}
	out[0] = transform.Operand{Value: jsondoc.StringValue(textOf(days) + " " + start), Present: true}
	return out, nil
}

func week() []string { return []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} }

// daysOf returns the days of "Mon-Fri" or "Sat,Sun".
func daysOf(text string) ([]string, error) {
	week := week()
	if first, last, isRange := strings.Cut(text, "-"); isRange {
		from, to := slices.Index(week, first), slices.Index(week, last)
		if from < 0 || to < from {
			return nil, errForm
		}
		return week[from : to+1], nil
	}
	days := strings.Split(text, ",")
	for _, day := range days {
		if !slices.Contains(week, day) {
			return nil, errForm
		}
	}
	return days, nil
}

// textOf writes three or more consecutive days as a range.
func textOf(days []string) string {
	week := week()
	from := slices.Index(week, days[0])
	if from >= 0 && len(days) > 2 && from+len(days) <= len(week) && slices.Equal(days, week[from:from+len(days)]) {
		return days[0] + "-" + days[len(days)-1]
	}
	return strings.Join(days, ",")
}
