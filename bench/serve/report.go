package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// report prints a Markdown table a workload: medians over the rounds, ratios paired within each
// round.
func (b *bench) report(w io.Writer) {
	for _, load := range workloads() {
		floor := b.of(load.name, "echo")
		if len(floor) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n### %s\n\n", load.title)
		fmt.Fprintln(w, "| server | CPU/request | x echo (min-max) | requests/s | p50 | p99 | peak RSS | its own | 20 MB + 1.4 x in flight |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
		for _, c := range b.contenders {
			rs := b.of(load.name, c.name)
			ratios := make([]float64, len(rs))
			for i := range rs {
				ratios[i] = float64(rs[i].cpu) / float64(floor[i].cpu)
			}
			slices.Sort(ratios)
			fmt.Fprintf(w, "| %s | %s | %.2f (%.2f-%.2f) | %.0f | %s | %s | %d MB | %d MB | %d MB |\n", c.name,
				median(rs, func(r result) time.Duration { return r.cpu }).Round(100*time.Nanosecond),
				ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1],
				median(rs, func(r result) float64 { return r.perSecond }),
				median(rs, func(r result) time.Duration { return r.p50 }).Round(time.Microsecond),
				median(rs, func(r result) time.Duration { return r.p99 }).Round(time.Microsecond),
				median(rs, func(r result) int64 { return r.peakRSS })>>20,
				median(rs, func(r result) int64 { return r.own })>>20, 20+rs[0].inFlight*14/10>>20)
		}
	}
	b.reportAgainst(w, "controller-runtime")
}

// reportAgainst prints how many times less CPU webhookd takes than a peer.
func (b *bench) reportAgainst(w io.Writer, peer string) {
	fmt.Fprintf(w, "\n### CPU per request: %s over webhookd\n\n", peer)
	for _, load := range workloads() {
		ours, theirs := b.of(load.name, "webhookd"), b.of(load.name, peer)
		if len(ours) == 0 || len(ours) != len(theirs) {
			continue
		}
		ratios := make([]float64, len(ours))
		for i := range ours {
			ratios[i] = float64(theirs[i].cpu) / float64(ours[i].cpu)
		}
		slices.Sort(ratios)
		fmt.Fprintf(w, "- %s: %.1fx (%.1f-%.1f)\n", load.title, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	}
}

func (b *bench) of(workload, server string) []result {
	var rs []result
	for _, r := range b.results {
		if r.workload == workload && r.server == server {
			rs = append(rs, r)
		}
	}
	return rs
}

func median[T int64 | float64 | time.Duration](rs []result, value func(result) T) T {
	values := make([]T, len(rs))
	for i, r := range rs {
		values[i] = value(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
