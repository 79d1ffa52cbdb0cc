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

// The table says how long the rules of each kind are, what check finds in them, and how many
// recorded objects they convert as upstream does.
func TestTable(t *testing.T) {
	t.Parallel()
	const file = "kinds.tsv"
	var got strings.Builder
	got.WriteString("kind\tproject\tversions\tlines\tCEL\terrors\twarnings\tnotes\tas upstream\twith a reason\n")
	for _, dir := range kinds(t) {
		got.WriteString(readKind(t, dir).row(t))
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s is not up to date, run this test with -update (-file +generated):\n%s", file, diff)
	}
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
	return fmt.Sprintf("%s\t%s %s, %s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n",
		k.source.Kind, k.source.Repository, k.source.Version, k.source.License,
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
