package check

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

var changeHeader = [...]string{"CONVERSION", "FIELD", "BEFORE", "NOW", "FOR USERS"} //nolint:gochecknoglobals // constant

// changeRow returns the cells of a change.
func changeRow(c *check.Change) []string {
	return []string{fmt.Sprintf("%s %s -> %s", c.CRD, c.From, c.To), cmp.Or(c.Path, "-"), cmp.Or(c.Before, "-"), cmp.Or(c.Now, "-"), c.Effect}
}

// writeChanges prints what the old rules converted differently, as a table.
func writeChanges(w io.Writer, format finding.Format, changes []check.Change) error {
	if format == finding.Markdown {
		return writeMarkdownChanges(w, changes)
	}
	if len(changes) == 0 || format != finding.Text && format != finding.Color {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(changeHeader[:], "\t"))
	for i := range changes {
		fmt.Fprintln(table, strings.Join(changeRow(&changes[i]), "\t"))
	}
	return table.Flush()
}

func writeMarkdownChanges(w io.Writer, changes []check.Change) error {
	var b strings.Builder
	b.WriteString("### What changes for users\n\n")
	if len(changes) == 0 {
		b.WriteString("Every field is converted as before.\n\n")
	} else {
		b.WriteString("| conversion | field | before | now | for users |\n|---|---|---|---|---|\n")
	}
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
	if len(changes) > 0 {
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
