package main

import (
	"fmt"
	"io"
	"time"

	"github.com/crdconvert/webhookd/bench/measure"
)

// Goals of webhookd's CPU over that of controller-runtime.
const (
	singleGoal       = 0.75
	singleMedianGoal = 0.6
	listGoal         = 0.5
)

// report prints a Markdown table: medians over the rounds, ratios paired within each round.
func report(w io.Writer, loads []*load) {
	fmt.Fprintln(w, "| kind | direction | rules | KB | 1 object: webhookd | controller-runtime | ratio | 50 objects: webhookd | controller-runtime | ratio |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, l := range loads {
		fmt.Fprintf(w, "| %s | %s | %s | %.1f |", l.kind, l.direction, l.work, float64(l.bytes)/1000)
		for i := range sizes() {
			fmt.Fprintf(w, " %s | %s | %s |", l.median(i, ours), l.median(i, theirs), l.ratio(i))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "\n| webhookd's CPU over controller-runtime's | goal | measured (range of the loads) | above it |")
	fmt.Fprintln(w, "|---|---|---|---|")
	for _, goal := range []struct {
		name string
		size int
		most float64
	}{
		{"one object, each", 0, singleGoal},
		{"one object, the median", 0, singleMedianGoal},
		{"50 objects, each", 1, listGoal},
	} {
		ratios, missed := make([]float64, len(loads)), 0
		for i, l := range loads {
			if ratios[i] = l.ratio(goal.size).Median; ratios[i] > goal.most {
				missed++
			}
		}
		fmt.Fprintf(w, "| %s | %.2f | %s | %d of %d |\n", goal.name, goal.most, measure.SpreadOf(ratios), missed, len(loads))
	}
}

// ratio returns webhookd's CPU over controller-runtime's.
func (l *load) ratio(size int) measure.Spread {
	return measure.Ratios(l.cpu[size][ours], l.cpu[size][theirs])
}

func (l *load) median(size, server int) time.Duration {
	return measure.Median(l.cpu[size][server]).Round(time.Microsecond)
}
