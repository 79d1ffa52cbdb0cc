package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// changeRow returns the cells of what the old rules converted differently.
func changeRow(c *check.Change) []string {
	return []string{fmt.Sprintf("%s %s -> %s", c.CRD, c.From, c.To), cmp.Or(c.Path, "-"), cmp.Or(c.Before, "-"), cmp.Or(c.Now, "-"), c.Effect}
}

func tableOfChanges(changes []check.Change) string {
	rows := [][]string{{"CONVERSION", "FIELD", "BEFORE", "NOW", "FOR USERS"}}
	for i := range changes {
		rows = append(rows, changeRow(&changes[i]))
	}
	return voice.Table(rows)
}

func markdownChanges(changes []check.Change) string {
	const title = "### What changes for users\n\n"
	if len(changes) == 0 {
		return title + "Every field is converted as before.\n\n"
	}
	var b strings.Builder
	b.WriteString(title + "| conversion | field | before | now | for users |\n|---|---|---|---|---|\n")
	for i := range changes {
		row := changeRow(&changes[i])
		for j, cell := range row {
			if cell = finding.MarkdownText(cell); j == 1 && cell != "-" {
				cell = "`" + row[1] + "`"
			}
			row[j] = cell
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String() + "\n"
}
