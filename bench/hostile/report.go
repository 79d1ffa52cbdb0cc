package main

import (
	"fmt"
	"io"
	"strings"
)

// report prints a table in Markdown: a line for each set, a column for each peer.
func report(out io.Writer, peers []peer, scores []score) {
	heads := append(make([]string, 0, 2+len(peers)), "set", "requests")
	for _, p := range peers {
		heads = append(heads, p.name+version(p.modules))
	}
	line(out, heads)
	line(out, strings.Split(strings.TrimSuffix(strings.Repeat("---,", len(heads)), ","), ","))
	for _, set := range sets() {
		line(out, row(set, scores, func(s score) (int, int) { t := s.sets[set]; return t.right, t.played }))
	}
	line(out, row("all", scores, func(s score) (int, int) {
		right, played := 0, 0
		for _, t := range s.sets {
			right, played = right+t.right, played+t.played
		}
		return right, played
	}))
	cells := func(name string, n func(s score) int) {
		row := append(make([]string, 0, 2+len(scores)), name, "")
		for _, s := range scores {
			row = append(row, fmt.Sprint(n(s)))
		}
		line(out, row)
	}
	cells("panics", func(s score) int { return s.panics })
	cells("hangs (30 s)", func(s score) int { return s.hangs })
	cells("values changed without a word", func(s score) int { return s.changed })
}

func row(name string, scores []score, of func(s score) (right, played int)) []string {
	_, played := of(scores[0])
	cells := append(make([]string, 0, 2+len(scores)), name, fmt.Sprint(played))
	for _, s := range scores {
		right, _ := of(s)
		cells = append(cells, fmt.Sprint(right))
	}
	return cells
}

func line(out io.Writer, cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
