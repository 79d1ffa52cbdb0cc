package dashboard

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
)

var placeholder = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// Legend returns the name of a series: a format such as "{{kind}} {{from}}" with the values of its
// labels. It returns an error if the series lacks a label of the format.
func Legend(format string, of labels.Labels) (string, error) {
	var missing []string
	name := placeholder.ReplaceAllStringFunc(format, func(match string) string {
		label := placeholder.FindStringSubmatch(match)[1]
		if !of.Has(label) {
			missing = append(missing, label)
		}
		return of.Get(label)
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("legend %q: the series %s has no label %s", format, of, strings.Join(missing, " or "))
	}
	return name, nil
}
