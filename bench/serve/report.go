package main

import (
	"fmt"
	"io"
	"time"

	"github.com/crdconvert/webhookd/bench/measure"
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
		fmt.Fprintln(w, "| server | CPU/request | x echo (min-max) | requests/s | p50 | x echo (min-max) | p99 | peak RSS | its own | 20 MB + 1.4 x in flight |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
		for _, c := range b.contenders {
			rs := b.of(load.name, c.Name)
			fmt.Fprintf(w, "| %s | %s | %s | %.0f | %s | %s | %s | %d MB | %d MB | %d MB |\n", c.Name,
				median(rs, result.cpuTime).Round(100*time.Nanosecond),
				measure.Ratios(each(rs, result.cpuTime), each(floor, result.cpuTime)),
				median(rs, func(r result) float64 { return r.perSecond }),
				median(rs, result.halfTime).Round(time.Microsecond),
				measure.Ratios(each(rs, result.halfTime), each(floor, result.halfTime)),
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
		s := measure.Ratios(each(theirs, result.cpuTime), each(ours, result.cpuTime))
		fmt.Fprintf(w, "- %s: %.1fx (%.1f-%.1f)\n", load.title, s.Median, s.Min, s.Max)
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

func (r result) cpuTime() time.Duration  { return r.cpu }
func (r result) halfTime() time.Duration { return r.p50 }

func median[T int64 | float64 | time.Duration](rs []result, value func(result) T) T {
	return measure.Median(each(rs, value))
}

func each[T any](rs []result, value func(result) T) []T {
	values := make([]T, len(rs))
	for i, r := range rs {
		values[i] = value(r)
	}
	return values
}
