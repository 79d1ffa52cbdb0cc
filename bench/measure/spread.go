package measure

import (
	"fmt"
	"slices"
	"time"
)

// A Spread is the median of values, the least and the greatest.
type Spread struct{ Median, Min, Max float64 }

// SpreadOf returns the spread of values, of which there is at least one.
func SpreadOf(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	return Spread{Median: sorted[len(sorted)/2], Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// Ratios returns the spread of the ratios of durations that belong together: of one round.
func Ratios(over, under []time.Duration) Spread {
	ratios := make([]float64, len(over))
	for i := range over {
		ratios[i] = float64(over[i]) / float64(under[i])
	}
	return SpreadOf(ratios)
}

// String returns the median, and the range in parentheses.
func (s Spread) String() string { return fmt.Sprintf("%.2f (%.2f-%.2f)", s.Median, s.Min, s.Max) }

// Median returns the median of values, of which there is at least one.
func Median[T int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
