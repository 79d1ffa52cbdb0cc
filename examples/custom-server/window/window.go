// Package window is a function for `go:` in conversion rules, and a model to copy. It converts a
// maintenance window between one text, "Mon-Fri 02:00", and a list of days with a start.
package window

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/conversion/rules"
)

// errForm means that a value is kept, not converted. A function's error is never shown.
var errForm = errors.New("not a window")

// Function converts between one path, the text, and two at the hub, the days and the start.
//
// It need not be lossless: the rules keep values that it cannot convert, or would return in another
// form.
func Function() rules.Function {
	return rules.Function{ToHub: split, ToSpoke: join}
}

func split(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, 2)
	if in[0] == nil { // the field is absent
		return out, nil
	}
	var text string
	if err := json.Unmarshal(in[0], &text); err != nil {
		return nil, errForm
	}
	days, start, found := strings.Cut(text, " ")
	list, err := daysOf(days)
	if err != nil || !found {
		return nil, errForm
	}
	var problems [2]error
	out[0], problems[0] = json.Marshal(list)
	out[1], problems[1] = json.Marshal(start)
	return out, errors.Join(problems[:]...)
}

func join(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) {
	if in[0] == nil && in[1] == nil {
		return []json.RawMessage{nil}, nil
	}
	var days []string
	var start string
	if in[0] == nil || in[1] == nil || // a fragment: the text cannot express half of it
		json.Unmarshal(in[0], &days) != nil || json.Unmarshal(in[1], &start) != nil || len(days) == 0 {
		return nil, errForm
	}
	text, err := json.Marshal(textOf(days) + " " + start)
	return []json.RawMessage{text}, err
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
