package upstream_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/google/go-cmp/cmp"
)

const (
	page       = "../../docs/contributing/upstream.md"
	tableStart = "<!-- table: made by test/upstream -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, start := strings.Cut(string(text), tableStart)
	_, after, end := strings.Cut(rest, tableEnd)
	if !start || !end {
		t.Fatalf("no place for the table: %q and %q: %s", tableStart, tableEnd, page)
	}
	got := before + tableStart + table(t) + tableEnd + after
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("%s is not up to date, run this test with -update (-file +generated):\n%s", page, diff)
	}
}

func table(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`
| kind | project | versions | lines | CEL | errors | warnings | notes | as upstream | with a reason |
|---|---|---|---|---|---|---|---|---|---|
`)
	for _, dir := range kinds(t) {
		b.WriteString(readKind(t, dir).row(t))
	}
	b.WriteString("\n")
	return b.String()
}

func (k *kind) row(t *testing.T) string {
	t.Helper()
	same := 0
	for _, p := range k.pairs {
		if _, _, paths := k.compare(t, p); len(paths) == 0 {
			same++
		}
	}
	errors := len(finding.Worst(k.findings, finding.Error))
	warnings := len(finding.Worst(k.findings, finding.Warning)) - errors
	return fmt.Sprintf("| [%s](../../test/upstream/kinds/%s/rules.yaml) | [%s](%s) %s, %s | %s | %s | %d | %d | %d | %d | %d | %d |\n",
		k.source.Kind, k.name, k.source.Project, k.source.Repository, k.source.Version, k.source.License,
		strings.Join(k.crd.VersionNames(), ", "), k.lines(), k.expressions(),
		errors, warnings, len(k.findings)-errors-warnings, same, len(k.pairs)-same)
}

// lines counts lines other than comments and blank ones.
func lines(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			n++
		}
	}
	return n
}

// lines says how long the rules are, with those that they share.
func (k *kind) lines() string {
	if k.shared == nil {
		return strconv.Itoa(lines(k.rules))
	}
	return fmt.Sprintf("%d, %d shared", lines(k.rules), lines(k.shared))
}

// expressions counts what the rules compute by toHub and toSpoke, shared rule sets included.
func (k *kind) expressions() int {
	sets := slices.Clone(k.conversion.RuleSets)
	file, _ := syntax.Parse(k.source.Shared, k.shared)
	for _, shared := range file.RuleSets {
		sets = append(sets, shared.Sets...)
	}
	var rules []*syntax.Rule
	for _, set := range sets {
		rules = append(rules, set.Rules...)
	}
	for _, v := range k.conversion.Versions {
		rules = append(rules, v.Rules...)
	}
	n := 0
	for _, r := range rules {
		for _, expression := range []*syntax.Text{r.ToHub, r.ToSpoke} {
			if expression != nil {
				n++
			}
		}
	}
	return n
}
