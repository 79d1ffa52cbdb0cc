package dashboard

import (
	"math"
	"strconv"
	"strings"
)

// A magnitude is a factor of a unit, with the text behind the number.
type magnitude struct {
	factor float64
	suffix string
}

// magnitudes returns those of a unit of Grafana (its documentation, "Configure standard options")
// in ascending order, or nil for an unknown unit.
func magnitudes(unit string) []magnitude {
	switch unit {
	case "short":
		return []magnitude{{1, ""}, {1e3, " K"}, {1e6, " Mil"}, {1e9, " Bil"}}
	case "reqps":
		return []magnitude{{1, " req/s"}, {1e3, "K req/s"}, {1e6, "M req/s"}}
	case "ops":
		return []magnitude{{1, " ops/s"}, {1e3, "K ops/s"}, {1e6, "M ops/s"}}
	case "percentunit":
		return []magnitude{{0.01, "%"}}
	case "bytes":
		return []magnitude{{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}}
	case "s":
		const hour, day = 3600, 86400
		return []magnitude{
			{1e-9, " ns"}, {1e-6, " µs"}, {1e-3, " ms"}, {1, " s"}, {60, " mins"}, {hour, " hours"}, {day, " days"}, {7 * day, " weeks"}, {365 * day, " years"},
		}
	}
	return nil
}

func knownUnit(unit string) bool { return magnitudes(unit) != nil }

// magnitudeOf returns the largest magnitude of a unit that is not larger than a value, else the
// smallest one; for 0 that with the factor 1.
func magnitudeOf(value float64, unit string) magnitude {
	all := magnitudes(unit)
	found := all[0]
	for _, m := range all {
		if m.factor <= math.Abs(value) || value == 0 && m.factor <= 1 {
			found = m
		}
	}
	return found
}

// Format returns a value with its unit: with so many decimals, or rounded to three digits.
func Format(value float64, unit string, decimals *int) string {
	m := magnitudeOf(value, unit)
	return number(value/m.factor, decimals) + m.suffix
}

func number(value float64, decimals *int) string {
	if decimals != nil {
		return strconv.FormatFloat(value, 'f', *decimals, 64)
	}
	const digits = 3
	before := 1
	if value != 0 {
		before = int(math.Floor(math.Log10(math.Abs(value)))) + 1
	}
	text := strconv.FormatFloat(value, 'f', max(0, digits-before), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Ticks returns equally spaced round values of a unit, about five: from 0 to the first that is not
// below the largest value.
func Ticks(largest float64, unit string) []float64 {
	if largest <= 0 {
		largest = magnitudeOf(0, unit).factor
	}
	factor := magnitudeOf(largest, unit).factor
	const most = 5 // intervals
	least := largest / factor / most
	power := math.Pow(10, math.Floor(math.Log10(least)))
	step := 10 * power
	for _, round := range []float64{5, 2.5, 2, 1} {
		if round*power >= least*(1-1e-9) {
			step = round * power
		}
	}
	var ticks []float64
	for i := 0; ; i++ {
		tick := float64(i) * step * factor
		ticks = append(ticks, tick)
		if tick >= largest*(1-1e-9) {
			return ticks
		}
	}
}
