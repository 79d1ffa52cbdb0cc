package dashboard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql"
)

// side is the length of both axes of a chart in its own units. The page stretches it.
const side = 1000

// A chart is a panel of lines.
type chart struct {
	Side  int
	Up    []tick // of the values, the largest first
	Along []tick // of time
	Lines []line
}

// A tick is a label at a place of an axis, from its start, in percent.
type tick struct {
	At   float64
	Text string
}

// FromTop is the place from the end of the axis.
func (t tick) FromTop() float64 { return 100 - t.At }

// A line has its path and the area below it, as the d of an SVG path.
type line struct {
	Name, Color, Path, Area string
	Opacity                 float64
}

// newChart draws all series of a panel. It returns nil if they have no points.
func newChart(p *PanelView, v *View) *chart {
	defaults := p.FieldConfig.Defaults
	largest, points := 0.0, 0
	for _, s := range p.series() {
		for _, point := range s.Points {
			if drawn(point.F) {
				largest, points = max(largest, point.F), points+1
			}
		}
	}
	if points == 0 {
		return nil
	}
	if defaults.Max != nil {
		largest = *defaults.Max
	}
	values := Ticks(largest, defaults.Unit)
	c := &chart{Side: side, Along: timeTicks(v.From, v.To)}
	top := values[len(values)-1]
	for i := range values {
		value := values[len(values)-1-i]
		c.Up = append(c.Up, tick{100 * value / top, Format(value, defaults.Unit, nil)})
	}
	for i, s := range p.series() {
		place := scale{v.From.UnixMilli(), v.To.UnixMilli(), v.Step.Milliseconds(), top}
		l := line{Name: s.Name, Color: lineColor(i), Opacity: float64(defaults.Custom.FillOpacity) / 100}
		l.Path, l.Area = place.paths(s.Points)
		c.Lines = append(c.Lines, l)
	}
	return c
}

func drawn(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }

// A scale maps points to places on a chart whose values are from 0 to top.
type scale struct {
	from, to, step int64 // milliseconds
	top            float64
}

// paths interrupts a line where a step has no value.
func (s *scale) paths(points []promql.FPoint) (path, area string) {
	var lines, areas strings.Builder
	last, x := int64(math.MinInt64), 0.0
	closeArea := func() {
		if areas.Len() > 0 {
			fmt.Fprintf(&areas, "L%.1f %dZ", x, side)
		}
	}
	for _, p := range points {
		if !drawn(p.F) {
			continue
		}
		joined := p.T-last <= s.step && last != math.MinInt64
		if !joined {
			closeArea()
		}
		x = side * float64(p.T-s.from) / float64(s.to-s.from)
		y := side * (1 - max(0, min(1, p.F/s.top)))
		if joined {
			fmt.Fprintf(&lines, "L%.1f %.1f", x, y)
		} else {
			fmt.Fprintf(&lines, "M%.1f %.1f", x, y)
			fmt.Fprintf(&areas, "M%.1f %d", x, side)
		}
		fmt.Fprintf(&areas, "L%.1f %.1f", x, y)
		last = p.T
	}
	closeArea()
	return lines.String(), areas.String()
}

// timeTicks returns those at every fifth or tenth second, and so on, about four of them. At the
// ends there is no room for a label.
func timeTicks(from, to time.Time) []tick {
	step := time.Second
	for _, round := range []time.Duration{2, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600} {
		if to.Sub(from)/step > 5 {
			step = round * time.Second
		}
	}
	var ticks []tick
	for at := from.Truncate(step).Add(step); at.Before(to); at = at.Add(step) {
		const room = 5 // percent
		if place := 100 * float64(at.Sub(from)) / float64(to.Sub(from)); place >= room && place <= 100-room {
			ticks = append(ticks, tick{place, at.UTC().Format(time.TimeOnly)})
		}
	}
	return ticks
}
