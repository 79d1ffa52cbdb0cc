package dashboard

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Variable is a choice at the top of the page.
type Variable struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Definition string `json:"definition"`
}

// Variables are values by the name of the variable, without the dollar sign.
type Variables map[string]string

// variable matches $name, ${name} and ${name:format}. A dollar sign at the end of a regular
// expression is no variable.
var variable = regexp.MustCompile(`\$(\w+)|\$\{(\w+)(?::\w+)?\}`)

// Expand replaces the variables in a query. It returns an error for each that has no value.
func (v Variables) Expand(text string) (string, error) {
	var missing []string
	expanded := variable.ReplaceAllStringFunc(text, func(match string) string {
		m := variable.FindStringSubmatch(match)
		name := cmp.Or(m[1], m[2])
		value, found := v[name]
		if !found {
			missing = append(missing, name)
		}
		return value
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("variables without a value: %s", strings.Join(slices.Compact(missing), ", "))
	}
	return expanded, nil
}

// RateInterval returns Grafana's $__rate_interval: the larger of step + scrape interval and four
// scrape intervals (Grafana's documentation of the data source Prometheus, "Template variables").
func RateInterval(step, scrape time.Duration) time.Duration { return max(step+scrape, 4*scrape) }

// anyOf returns a regular expression for the choice "All".
func anyOf(values []string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		// Once for the regular expression and once for the string in PromQL around it.
		quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(value), `\`, `\\`)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return "(" + strings.Join(quoted, "|") + ")"
}

// labelValues splits label_values(SELECTOR, LABEL).
func labelValues(definition string) (selector, label string, err error) {
	inner, isCall := strings.CutPrefix(definition, "label_values(")
	inner, isClosed := strings.CutSuffix(inner, ")")
	comma := strings.LastIndexByte(inner, ',')
	if !isCall || !isClosed || comma < 0 {
		return "", "", fmt.Errorf("not label_values(SELECTOR, LABEL): %s", definition)
	}
	return strings.TrimSpace(inner[:comma]), strings.TrimSpace(inner[comma+1:]), nil
}
